import { parentPort, workerData } from 'node:worker_threads';
import { type DocumentTask, runDocumentTask } from './document-tasks.ts';

const task: DocumentTask = workerData;
parentPort?.postMessage(runDocumentTask(task));
