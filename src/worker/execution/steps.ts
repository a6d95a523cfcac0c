/** Points of an execution, in order, where tests let a process die or fall asleep. */
export type Step =
  | 'before-temporary'
  | 'before-claim'
  | 'before-dispatch'
  | 'dispatched'
  | 'picked-up'
  | 'result-read'
  | 'before-completion'
  | 'completed'
  | 'before-record'
  | 'removed';

export type AtStep = (step: Step, mockId: string) => Promise<void> | void;
