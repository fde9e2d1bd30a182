import { expect, test } from "vitest";
import { enginePorts } from "../../../../lib/local/engine/engine-ports.ts";

test.each(enginePorts)("no page can send a request to the port %i", async (port) => {
  // The fetch of Node.js has the port blocking of the Fetch Standard, as browsers have.
  const refused = fetch(`http://127.0.0.1:${port}`);
  await expect(refused).rejects.toMatchObject({ cause: { message: "bad port" } });
});
