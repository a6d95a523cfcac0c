import type { EndedJob, Settled } from '../contract/execution-record.ts';
import { retry } from '../runtime/async.ts';
import type { Publication } from '../store/history/history.ts';
import type { Finished, Records, TakenJob } from './queue.ts';

/** What a store does with a job that a worker has. Each rejects if the job is not that worker's any more. */
export type JobCommands = {
  /** Resolves to when it ended, epoch ms; where the record is added in the same step, to what all of it came to. */
  complete(value: unknown): Promise<number | Finished>;
  giveBack(): Promise<unknown>;
  snooze(ms: number): Promise<unknown>;
  setProgress(progress: object): Promise<unknown>;
  replaceData(data: object): Promise<unknown>;
};

/** Tells of a job. */
export type JobNews = {
  /** What is published in the step that adds the record, where the store can. */
  ending(ended: EndedJob): Publication | undefined;
  publish(ended: EndedJob): Promise<unknown>;
  changed(id: string): Promise<unknown>;
};

type TakenJobOptions = {
  records: Records | undefined;
  news: JobNews;
  /** Whether the job is known to be another worker's, or this worker stops. */
  isOver: () => boolean;
  /** Whether an error says that the job is not this worker's any more. */
  isLost: (error: unknown) => boolean;
  onError: (error: unknown) => void;
};

/** Begins at once to add the record of a job that ended. Resolves to whether it was added. */
export function addRecord(
  records: Records | undefined,
  settled: Settled | undefined,
  publication?: Publication,
): Promise<boolean> {
  if (!records || !settled) return Promise.resolve(false);
  return records.add(settled, publication).then(
    () => true,
    () => false,
  );
}

/** A job of a worker, over the commands of its store: the same repetitions and the same steps at its end in every store with steps of its own. */
export function openTakenJob(
  job: Pick<TakenJob, 'id' | 'data' | 'addedAt' | 'isFirstDelivery' | 'progress'>,
  commands: JobCommands,
  { records, news, isOver, isLost, onError }: TakenJobOptions,
): TakenJob {
  const { id, data, addedAt } = job;
  let isLetGo = false;

  /** Ends what this worker does with the job: whatever it asks for afterwards concerns a job of another worker, or of its own once more. */
  async function letGo<T>(command: () => Promise<T>): Promise<{ result: T } | undefined> {
    if (isLetGo) return undefined;
    const done = await whileHeld(command);
    isLetGo = true;
    return done;
  }

  /** Repeats a command while the job is this worker's; undefined where it is not any more. */
  async function whileHeld<T>(command: () => Promise<T>): Promise<{ result: T } | undefined> {
    let isMine = true;
    return retry(async () => ({ result: await command() }), {
      goOn: () => isMine && !isOver(),
      onError(error) {
        isMine = !isLost(error);
        if (isMine) onError(error);
      },
    });
  }

  /** The record and the reply are one step where the store can. */
  async function record(ended: EndedJob): Promise<Finished> {
    const settled = records?.settledOf(ended);
    const publication = settled && news.ending(ended);
    const isRecorded = await addRecord(records, settled, publication);
    if (!publication || !isRecorded) await news.publish(ended);
    return { kind: 'finished', settled, isRecorded };
  }

  return {
    ...job,
    async finish(value) {
      const done = await letGo(() => commands.complete(value));
      if (!done) return { kind: 'lost' };
      if (typeof done.result !== 'number') return done.result;
      return record({ id, data, addedAt, endedAt: done.result, value });
    },
    giveBack: async () => void (await letGo(commands.giveBack)),
    snooze: async (ms) => void (await letGo(() => commands.snooze(ms))),
    async report(progress) {
      await commands.setProgress(progress);
      await news.changed(id);
    },
    replaceData: async (data) => void (await commands.replaceData(data)),
  };
}
