/** The content of a request file, with every number as text. */
export type RequestContent = {
  mockId: string;
  app: number;
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  target: string;
  debug?: number | undefined;
  /** The scene that named the rule. */
  scene?: string | undefined;
  /** The trace that the run belongs to (W3C Trace Context); a client may go on with it. */
  traceparent?: string | undefined;
  input: string;
  /** Set for a run without effects. The rule is then in a member that a client of an earlier version does not read: it finds nothing to run. */
  dryRun?: { stub: string } | undefined;
};

/** The hints of a registration about how its client writes. */
export type RegistrationHead = { dialect: string | null; hasStartTime: boolean; hasLoadedVersion: boolean };

/** How one kind of client writes requests and results, and in what else it differs from the others. */
export type Dialect = {
  /** Whether a client that registers like this speaks it. */
  recognises(registration: RegistrationHead): boolean;
  /** The name a client's files and directory go by. */
  directoryNameOf(address: string): string;
  /** The members of a request file, in order; values are JSON text. */
  requestMembers(content: RequestContent, createAt: number): [key: string, raw: string][];
  /** The member of a result that carries the data object. */
  dataField: string;
  /** A name at the top level of the input that its SDKs keep for themselves. */
  reservedKey: string | null;
  /** Other servers clean its directories, so one of its clients must never have an empty one, not for a moment. */
  isSharedWithCleaners: boolean;
  /** Its clients cannot beat while they run a rule, and other servers take one that runs for long for dead. */
  isSilentWhileRunning: boolean;
};
