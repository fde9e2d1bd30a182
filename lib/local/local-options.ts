import type { WebPages } from "./gateway/request-routing.ts";
import type { InjectedFault } from "./iam/faults.ts";

/** How the service runs on this machine. */
export interface LocalOptions {
  /** Where data is kept between runs. */
  readonly dataDirectory: string;
  /** An engine to use in place of the embedded one. */
  readonly dynamodbEndpoint?: string | undefined;
  /** The port of the embedded engine: 0 for any free one; by default, one that no web page can reach. */
  readonly enginePort?: number | undefined;
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** The stage to serve, by default `dev`. */
  readonly stage?: string;
  /** A cloud assembly to serve. By default, the stage is synthesized. */
  readonly templateDirectory?: string | undefined;
  /** How many requests each function serves concurrently; further requests wait. */
  readonly maxEnvironments?: number;
  /** Whether to enforce the stage's throttle, by default true. */
  readonly throttling?: boolean;
  /** Whether to feed functions from the table's stream, by default true. */
  readonly streams?: boolean;
  /** Variables of all functions besides their own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The faults that table calls get at random, by default none. */
  readonly faults?: readonly InjectedFault[] | undefined;
  /** The URL to which events are posted. By default, they are only logged. */
  readonly eventsUrl?: string | undefined;
  /** Pages to serve beside the API. */
  readonly webPages?: WebPages;
  /** Whether to log more than warnings, errors and a line for each request and event. */
  readonly verbose?: boolean;
  readonly log?: (line: string) => void;
  /** Called when the engine ends without having been stopped. */
  readonly onEngineExit?: () => void;
}
