import { readRunFile, runFileName, runFileOf } from '../../shared/reasoning/trace/run-file.ts';
import { type TextFault, textFault } from '../../shared/reasons/text-faults.ts';
import { readTree } from '../api/browse.ts';
import { type ExecutionRecord, getExecutionText, readExecution } from '../api/executions.ts';
import { orElse } from '../api/read-answer.ts';
import { keepOpened } from './queries/use-execution.ts';

/** A run as a file, with the rules that it ran on. */
export async function fileOfRun(mockId: string): Promise<{ name: string; text: string; masked: string[] }> {
  return { name: runFileName(mockId), ...runFileOf(await getExecutionText(mockId), 'the page') };
}

/** A file that is no saved run. */
export class NoRunFile extends Error {
  readonly fault: TextFault;
  constructor(fault: TextFault) {
    super(fault.problem);
    this.fault = fault;
  }
}

/** Opens a saved run. Throws what is wrong with the file. */
export async function openRunFile(file: File): Promise<ExecutionRecord> {
  const read = readRunFile(await file.text());
  if (read.kind === 'bad') throw new NoRunFile(read.fault);
  const run = orElse(() => {
    const execution = readExecution(read.execution);
    return { execution, tree: execution.tree ? readTree(execution.tree) : null };
  }, null);
  if (run === null) throw new NoRunFile(textFault('no-run-file', {}));
  keepOpened({ ...run, fileName: file.name, changed: read.changed });
  return run.execution.record;
}
