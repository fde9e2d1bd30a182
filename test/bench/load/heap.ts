import { Session } from "node:inspector/promises";

/** The memory of one worker thread. */
export interface WorkerHeap {
  /** The name of its function. */
  readonly name: string;
  /** Distinguishes a worker from its replacement. */
  readonly thread: number;
  /** Bytes in use after a forced collection. */
  readonly used: number;
}

interface FromWorker {
  readonly sessionId: string;
  readonly message: string;
}

interface Reply {
  readonly id: number;
  readonly error?: { readonly message: string };
  readonly result?: { readonly usedSize?: number };
}

/**
 * Collects the garbage of each worker thread of this process and measures the memory in use.
 *
 * The inspector needs neither a flag nor code in the worker, so the deployed bundles are measured unchanged. It is
 * attached only while it measures.
 *
 * @throws Error when a worker does not report its memory
 */
export async function measureWorkers(): Promise<WorkerHeap[]> {
  const session = new Session();
  session.connect();
  try {
    const titles = new Map<string, string>();
    session.on("NodeWorker.attachedToWorker", ({ params }) =>
      titles.set(params.sessionId, params.workerInfo.title),
    );
    const call = createCall(session);
    await session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
    const heaps = await Promise.all([...titles].map(([id, title]) => measure(call, id, title)));
    await session.post("NodeWorker.disable");
    return heaps;
  } finally {
    session.disconnect();
  }
}

type Call = (sessionId: string, method: string) => Promise<NonNullable<Reply["result"]>>;

async function measure(call: Call, sessionId: string, title: string): Promise<WorkerHeap> {
  const [, thread, name] = /^\[worker (\d+)\] (.*)$/.exec(title) ?? [];
  await call(sessionId, "HeapProfiler.collectGarbage");
  const { usedSize } = await call(sessionId, "Runtime.getHeapUsage");
  if (name === undefined || usedSize === undefined)
    throw new Error(`The worker ${title} did not report its memory.`);
  return { name, thread: Number(thread), used: usedSize };
}

/** Creates a function that sends a command to a worker and waits for its reply. */
function createCall(session: Session): Call {
  const waiting = new Map<number, (reply: Reply) => void>();
  let last = 0;
  session.on("NodeWorker.receivedMessageFromWorker", ({ params }: { params: FromWorker }) => {
    const reply = JSON.parse(params.message) as Reply;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  return async (sessionId, method) => {
    last += 1;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    waiting.set(last, resolve);
    const message = JSON.stringify({ id: last, method });
    await session.post("NodeWorker.sendMessageToWorker", { sessionId, message });
    const { error, result = {} } = await promise;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}
