import { useCallback, useEffect } from 'react';
import type { ExecutionRecord } from '../../api/executions.ts';
import { openedRun } from '../../run/queries/use-execution.ts';
import { failureOfText } from '../../text/service-words.ts';
import { useText } from '../../text/use-text.tsx';
import { NoticeLines, useAnnounce, useFailed } from '../../ui/announce.tsx';
import { saveText } from '../../ui/copy-button.tsx';
import { IconButton } from '../../ui/icon.tsx';

/** Writes a run into a file, which is opened and explained without this service. */
export function SaveRun({ mockId }: { mockId: string }) {
  const { say } = useText();
  const announce = useAnnounce();
  const failed = useFailed();
  const save = async () => {
    const { fileOfRun } = await import('../../run/run-files.ts');
    const { name, text, masked } = await fileOfRun(mockId);
    saveText(text, name);
    const paths = masked.join(', ');
    announce(paths === '' ? say('runFile.saved', { name }) : say('runFile.saved.masked', { name, paths }));
  };
  if (openedRun(mockId) !== null) return null;
  const press = () => void save().catch(failed);
  return <IconButton icon="save" label={say('runFile.save')} hint={say('runFile.save.hint')} onPress={press} />;
}

/** From which file the run on the screen is, and whether somebody changed it. */
export function FromFile({ mockId }: { mockId: string | null }) {
  const { say } = useText();
  const run = openedRun(mockId);
  const line = run && say(run.changed ? 'runFile.changed' : 'runFile.shown', { name: run.fileName });
  return <NoticeLines className="file-notice" lines={line === null ? [] : [line]} />;
}

type Props = { onOpen: (record: ExecutionRecord) => void };

/** Opens the file of a run, and says what is wrong with any other. */
export function useOpenFile(onOpen: Props['onOpen']): (file: File | undefined) => void {
  const { say } = useText();
  const announce = useAnnounce();
  const failed = useFailed();
  return useCallback(
    (file) => {
      if (!file) return;
      const opened = import('../../run/run-files.ts').then(({ openRunFile, NoRunFile }) =>
        openRunFile(file).then(onOpen, (error) => {
          if (!(error instanceof NoRunFile)) throw error;
          announce(say('runFile.bad', { name: file.name, error: failureOfText(error.fault) }));
        }),
      );
      opened.catch(failed); // also where the code that reads the file could not be fetched
    },
    [onOpen, say, announce, failed],
  );
}

/** A file that is dropped anywhere on the page, where no other part takes it, is opened as a saved run. */
export function DroppedRuns({ onOpen }: Props) {
  const open = useOpenFile(onOpen);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      open(event.dataTransfer.files[0]);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('drop', drop);
    };
  }, [open]);
  return null;
}
