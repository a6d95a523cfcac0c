import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { refuseUnwritable } from '../../shared/runtime/access/audit.ts';
import { parseKeysFile, readKeysFile } from '../../shared/runtime/access/keys-file.ts';
import { readRedisAddress, redisAddress } from '../../shared/runtime/settings/redis-address.ts';
import {
  BadSettings,
  DEFAULT_SHARED_DIR,
  LOCAL_REDIS,
  misspeltSettings,
  queueUrlOf,
  readSettings,
  refuseOpenDoor,
  type Settings,
} from '../../shared/runtime/settings/settings.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { checkClients } from './client-checks.ts';
import { checkClocks } from './clock-check.ts';
import { checkSharedDirectory } from './directory-checks.ts';
import { type Finding, fail, firstCauses, guarded, lineOf, ok, warn } from './finding.ts';
import { checkRedis } from './redis-checks.ts';
import { checkApi, checkSystem } from './system-checks.ts';

type DoctorOptions = { url: string; key?: string; json?: boolean };

/** Examines a deployment with the settings of this environment. Exits with 1 if a check fails. */
export async function doctor(options: DoctorOptions, { environment, stdout }: Surroundings): Promise<number> {
  const findings = firstCauses(await findAll(options, environment));
  stdout.write(
    options.json ? `${JSON.stringify(findings)}\n` : findings.map((finding) => lineOf(finding, stdout)).join(''),
  );
  return findings.some(({ level }) => level === 'fail') ? exitCodes.failed : exitCodes.ok;
}

async function findAll({ url, key }: DoctorOptions, environment: Surroundings['environment']): Promise<Finding[]> {
  const system = await guarded('system', checkSystem);
  try {
    const settings = readSettings(environment);
    const isOfApi = settings.SHARED_DIR === undefined && queueUrlOf(settings) !== undefined;
    const sharedDir = resolve(settings.SHARED_DIR ?? DEFAULT_SHARED_DIR);
    let registeredId: string | null = null;
    const redis = await guarded('redis', async () => {
      const address = (await readRedisAddress(settings)) ?? redisAddress(LOCAL_REDIS, settings.QUEUE_PREFIX);
      const { findings, directoryId } = await checkRedis(address);
      registeredId = directoryId;
      const isEmbedded = queueUrlOf(settings) === undefined && findings.length === 1;
      return isEmbedded && (await hasStore(sharedDir)) ? [EMBEDDED] : findings;
    });
    const directory = isOfApi
      ? [NOT_CHECKED]
      : [
          ...(await guarded('shared directory', () => checkSharedDirectory(sharedDir, registeredId))),
          ...(await guarded('client directories', () => checkClients(sharedDir, settings.CLIENT_TIMEOUT_MS))),
        ];
    const api = await guarded('api', () => checkApi({ url, key }));
    const findings = [...system, ...(await checkSettings(settings, environment)), ...redis, ...directory, ...api];
    return [...findings, checkClocks(findings.flatMap(({ clocks = [] }) => clocks))];
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    return [...system, fail('settings', error.message, 'Correct them: no process starts with them.')];
  }
}

const EMBEDDED = ok('queue', 'npm start keeps its own in SHARED_DIR/.rule-server/store: no Redis is needed');
const hasStore = (sharedDir: string): Promise<boolean> =>
  access(join(sharedDir, '.rule-server', 'store')).then(
    () => true,
    () => false,
  );

const NOT_CHECKED = ok(
  'shared directory',
  'not checked: these are the settings of an API, which uses none. Set SHARED_DIR to check that of the workers',
);

/** Warns of settings that look misspelt. Throws `BadSettings` for what a process would refuse at its start. */
async function checkSettings(settings: Settings, environment: Surroundings['environment']): Promise<Finding[]> {
  const { API_KEYS_FILE, AUDIT_LOG } = settings;
  if (API_KEYS_FILE !== undefined) parseKeysFile(await readKeysFile(API_KEYS_FILE));
  if (AUDIT_LOG !== undefined && AUDIT_LOG !== '-') refuseUnwritable(AUDIT_LOG);
  const misspelt = misspeltSettings(environment).map(({ name, meant }) =>
    warn('settings', `${name} is no setting and is ignored`, `Did you mean ${meant}?`),
  );
  return [openDoor(settings) ?? ok('settings', 'can be used'), ...misspelt];
}

/** A fault of APIs only. */
function openDoor(settings: Settings): Finding | undefined {
  try {
    refuseOpenDoor(settings);
    return undefined;
  } catch (error) {
    return warn('settings', 'an API does not start with them', error instanceof Error ? error.message : String(error));
  }
}
