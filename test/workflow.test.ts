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
const stepsOf = (job: Job | undefined) => (job && "steps" in job ? job.steps : []);
const actions = jobs.flatMap(stepsOf).flatMap((step) => ("uses" in step ? [step.uses.value] : []));

/** The text of each job, by its name. */
const texts = text
  .split(/^jobs:$/m)[1]
  ?.split(/^ {2}(?=[\w-]+:$)/m)
  .slice(1);
const using = (command: string) => (texts ?? []).filter((job) => job.includes(command));

test("GitHub's parser accepts the workflow", () => {
  expect(errors).toEqual([]);
});

test("the npm scripts of the workflow exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const used = [...text.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(["accept", "audit", "ci", "test", "test:nightly"]);
  for (const script of ["accept", "test", "test:nightly"]) expect(scripts).toHaveProperty(script);
});

test("every night the workflow audits the deployed packages, even if a test fails", () => {
  expect(using("npm run test:nightly")[0]).toMatch(/ - if: always\(\)\n +run: npm audit --omit=dev /);
});

test("each stage has a file, and its jobs wait for the jobs that must pass before", () => {
  const order = jobs.map((job, n) => {
    const [, command, stage] = / cdk (\w+) -c stage=(\S+)/.exec(texts?.[n] ?? "") ?? [];
    if (stage) expect(existsSync(join(root, `stages/${stage}.json`))).toBe(true);
    const environment = "environment" in job ? job.environment?.toString() : undefined;
    return [job.id.value, job.needs?.join(), command, stage, environment];
  });
  expect(order).toEqual([
    ["test", undefined, undefined, undefined, undefined],
    ["nightly", undefined, undefined, undefined, undefined],
    ["diff-dev", undefined, "diff", "dev", undefined],
    ["deploy-dev", "test", "deploy", "dev", "dev"],
    ["diff-prod", "deploy-dev", "diff", "prod", undefined],
    ["deploy-prod", "diff-prod", "deploy", "prod", "prod"],
  ]);
});

test("each job that synthesizes a stage fetches the history, from which the functions' code gets its name", () => {
  expect(using("npx cdk")).toHaveLength(4);
  for (const job of using("npx cdk")) expect(job).toContain("          fetch-depth: 0\n");
});

test("the credentials of a deployment outlast it", () => {
  expect(using("cdk deploy")).toHaveLength(2);
  for (const job of using("cdk deploy")) {
    const [minutes, seconds] = [/timeout-minutes: (\d+)/, /role-duration-seconds: (\d+)/].map((number) =>
      Number(number.exec(job)?.[1]),
    );
    expect(seconds).toBeGreaterThan(Number(minutes) * 60);
  }
});

test("each action has a version", () => {
  expect(actions.length).toBeGreaterThan(10);
  for (const action of actions) expect(action).toMatch(/@(?:v\d+|[0-9a-f]{40})$/);
});

test("only jobs that use AWS can ask for a token, and nothing can write to the repository", () => {
  expect(text.match(/^permissions:\n {2}contents: read$/m)).not.toBeNull();
  const usesAws = actions.filter((action) => action.startsWith("aws-actions/configure-aws-credentials@"));
  expect(text.match(/^ {6}id-token: write$/gm)).toHaveLength(usesAws.length);
  expect(text).not.toMatch(/: write-all|(?<!id-token): write/);
  expect(text).not.toMatch(/AWS_SECRET_ACCESS_KEY|AWS_ACCESS_KEY_ID/);
});

test("the assembly deployed to prod is kept, and a failed check deploys the last assembly that passed", () => {
  const found = stepsOf(jobs.find(({ id }) => id.value === "deploy-prod")).map((step) => ({
    id: step.id,
    condition: step.if?.expression,
    does: "run" in step ? step.run.toString() : "uses" in step ? step.uses.value : "",
  }));
  const at = (text: string) => found.findIndex(({ does }) => does.includes(text));
  const order = ["gh run download", "cdk deploy -c stage=prod", "actions/upload-artifact", "npm run accept"];
  const places = [...order, "cdk deploy --app before"].map(at);
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  const [download, , upload, check, back] = places.map((place) => found[place]);
  // A run whose check failed also keeps its assembly under this name, so only runs that succeeded are considered.
  expect(download?.does).toContain("--status success");
  const [, name] = /--name (\S+) --dir before/.exec(download?.does ?? "") ?? [];
  expect(text).toContain(`          name: ${name}\n          path: cdk.out\n`);
  expect(upload?.condition).toContain("always()");
  expect([download?.id, check?.id]).toEqual(["before", "check"]);
  expect(back?.condition).toContain("steps.check.outcome == 'failure' && steps.before.outputs.run != ''");
});
