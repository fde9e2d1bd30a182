import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** GitHub's parser. It imports JSON in a way that a bundler understands, but Node.js does not. */
async function loadParser(): Promise<typeof import("@actions/workflow-parser")> {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "@actions/workflow-parser";', resolveDir: root },
    bundle: true,
    format: "esm",
    write: false,
  });
  return import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? "").toString("base64")}`
  );
}

const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await loadParser();
const path = "docs/delivery/github-actions.yml";

const text = readFileSync(join(root, path), "utf8");
const { context, value } = parseWorkflow({ name: path, content: text }, new NoOperationTraceWriter());
const { jobs = [] } = value ? await convertWorkflowTemplate(context, value) : {};
const errors = context.errors.getErrors().map(({ message }) => message);

type Job = (typeof jobs)[number];
const stepsOf = (job: Job) => ("steps" in job ? job.steps : []);
const commandsOf = (job: Job) =>
  stepsOf(job).flatMap((step) => ("run" in step ? step.run.toString().split("\n") : []));
const commands = jobs.flatMap(commandsOf);
const steps = jobs.flatMap(stepsOf);
const actions = steps.flatMap((step) => ("uses" in step ? [step.uses.value] : []));

test("GitHub's parser accepts the workflow", () => {
  expect(errors).toEqual([]);
  expect(jobs.map(({ id }) => id.value)).toEqual([
    "test",
    "nightly",
    "diff-dev",
    "deploy-dev",
    "diff-prod",
    "deploy-prod",
  ]);
});

test("its npm scripts exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const used = commands.flatMap((line) => /^npm (?:run )?([\w:]+)/.exec(line)?.[1] ?? []);
  expect([...new Set(used)].sort()).toEqual(["accept", "audit", "ci", "test", "test:nightly"]);
  for (const script of ["accept", "test", "test:nightly"]) expect(scripts).toHaveProperty(script);
});

test("it asks for advisories of what is deployed every night, also when a test fails", () => {
  const nightly = jobs.find(({ id }) => id.value === "nightly");
  const audit =
    nightly && stepsOf(nightly).find((step) => "run" in step && step.run.toString().startsWith("npm audit"));
  expect(audit?.if?.toDisplayString()).toContain("always()");
});

test("each stage has a file, and waits for what must be done before", () => {
  const order = jobs.map((job) => ({
    job: job.id.value,
    needs: job.needs?.map(({ value }) => value) ?? [],
    environment: "environment" in job ? job.environment?.toString() : undefined,
    stages: commandsOf(job).flatMap((line) => /-c stage=(\S+)/.exec(line)?.[1] ?? []),
    deploys: commandsOf(job).some((line) => line.startsWith("npx cdk deploy ")),
  }));
  expect(order).toEqual([
    { job: "test", needs: [], environment: undefined, stages: [], deploys: false },
    { job: "nightly", needs: [], environment: undefined, stages: [], deploys: false },
    { job: "diff-dev", needs: [], environment: undefined, stages: ["dev"], deploys: false },
    { job: "deploy-dev", needs: ["test"], environment: "dev", stages: ["dev"], deploys: true },
    { job: "diff-prod", needs: ["deploy-dev"], environment: undefined, stages: ["prod"], deploys: false },
    { job: "deploy-prod", needs: ["diff-prod"], environment: "prod", stages: ["prod"], deploys: true },
  ]);
  for (const stage of order.flatMap(({ stages }) => stages))
    expect(existsSync(join(root, `stages/${stage}.json`))).toBe(true);
});

test("each job that synthesizes a stage has the history, in which the code of the functions has its name", () => {
  const jobTexts = text.split(/^ {2}(?=[\w-]+:$)/m).filter((job) => job.includes("npx cdk"));
  expect(jobTexts).toHaveLength(4);
  for (const job of jobTexts) expect(job).toContain("          fetch-depth: 0\n");
});

test("the credentials of a deployment outlast it", () => {
  const deployments = text.split(/^ {2}(?=[\w-]+:$)/m).filter((job) => job.startsWith("deploy-"));
  expect(deployments).toHaveLength(2);
  for (const job of deployments) {
    const [minutes, seconds] = [/timeout-minutes: (\d+)/, /role-duration-seconds: (\d+)/].map((number) =>
      Number(number.exec(job)?.[1]),
    );
    expect(seconds).toBeGreaterThan(Number(minutes) * 60);
  }
});

test("each action has a version, and each is in the instructions to pin them", () => {
  expect(new Set(actions.map((action) => action.replace(/@v\d+$/, "")))).toEqual(
    new Set([
      "actions/checkout",
      "actions/setup-node",
      "actions/upload-artifact",
      "aws-actions/configure-aws-credentials",
    ]),
  );
  for (const action of actions) expect(action).toMatch(/@(?:v\d+|[0-9a-f]{40})$/);
});

test("only jobs that use AWS can ask for a token, and nothing can write to the repository", () => {
  expect(text.match(/^permissions:\n {2}contents: read$/m)).not.toBeNull();
  const usesAws = actions.filter((action) => action.startsWith("aws-actions/configure-aws-credentials@"));
  expect(text.match(/^ {6}id-token: write$/gm)).toHaveLength(usesAws.length);
  expect(text).not.toMatch(/: write-all|(?<!id-token): write/);
  expect(text).not.toMatch(/AWS_SECRET_ACCESS_KEY|AWS_ACCESS_KEY_ID/);
});

test("what is deployed to prod is kept, and a failed check deploys again what passed before", () => {
  const prod = jobs.find(({ id }) => id.value === "deploy-prod");
  const found = prod
    ? stepsOf(prod).map((step) => ({
        id: step.id,
        condition: step.if?.expression,
        does: "run" in step ? step.run.toString() : "uses" in step ? step.uses.value : "",
      }))
    : [];
  const at = (text: string) => found.findIndex(({ does }) => does.includes(text));
  const order = ["gh run download", "cdk deploy -c stage=prod", "actions/upload-artifact", "npm run accept"];
  const places = [...order, "cdk deploy --app before"].map(at);
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  const [download, , upload, check, back] = places.map((place) => found[place]);
  // What a run deployed whose check failed is kept under the same name.
  expect(download?.does).toContain("--status success");
  const [, name] = /--name (\S+) --dir before/.exec(download?.does ?? "") ?? [];
  expect(text).toContain(`          name: ${name}\n          path: cdk.out\n`);
  expect(upload?.condition).toContain("always()");
  expect([download?.id, check?.id]).toEqual(["before", "check"]);
  expect(back?.condition).toContain("steps.check.outcome == 'failure' && steps.before.outputs.run != ''");
});
