import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLAIM_KEPT_MS } from '../../../src/shared/contract/claim-age.ts';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import {
  type Claim,
  type ClaimKey,
  type ClaimOrRefusal,
  type Claims,
  createClaims,
  NewerClaim,
  UnknownClaim,
} from '../../../src/worker/files/claims/claims.ts';
import { createFileClock } from '../../../src/worker/files/shared-directory.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';

describe('the claim of an execution', () => {
  it('is the first one that was written, for whoever comes after', async () => {
    const { claims, key } = await prepared();
    const [first, second] = [claimOf('.a.tmp'), claimOf('.b.tmp')];
    expect(await decide(claims, key, first)).toEqual(first);
    expect(await decide(claims, key, second)).toEqual(first);
    expect(await claims.find(key)).toEqual(first);
  });

  it('cannot be written any more once the execution was refused', async () => {
    const { claims, key } = await prepared();
    expect(await decide(claims, key, refusal)).toEqual(refusal);
    expect(await decide(claims, key, claimOf('.a.tmp'))).toEqual(refusal);
  });

  it('wins over a refusal that comes later', async () => {
    const { claims, key } = await prepared();
    const claim = claimOf('.a.tmp');
    await decide(claims, key, claim);
    expect(await decide(claims, key, refusal)).toEqual(claim);
  });

  it('is one of many that were written at the same moment', async () => {
    const { claims, key } = await prepared();
    const all = Array.from({ length: 20 }, (_, index) => claimOf(`.${index}.tmp`));
    const decided = await Promise.all(all.map((decision) => decide(claims, key, decision)));
    expect(new Set(decided.map((decision) => JSON.stringify(decision))).size).toBe(1);
  });

  it('cannot be written once its minute was swept: whoever slept that long begins nothing, and says nothing', async () => {
    const { claims, key, sweep } = await prepared();
    await sweep({ atMs: key.claimBy + 12 * 60_000 });
    for (const decision of [claimOf('.a.tmp'), refusal])
      await expect(decide(claims, key, decision)).rejects.toThrow(UnknownClaim);
    await expect(claims.find(key)).rejects.toThrow(UnknownClaim);
  });

  it('does not count in a folder that was made again after the sweep, and goes with the next one', async () => {
    const { claims, key, sharedDir, sweep } = await prepared();
    await decide(claims, key, claimOf('.a.tmp'));
    await sweep({ atMs: key.claimBy + 12 * 60_000 });
    const behind = createClaims(sharedDir, createFileClock(sharedDir)); // a worker whose clock says that there is time left
    await behind.prepareUnlessPast(key);
    await expect(decide(behind, key, claimOf('.b.tmp'))).rejects.toThrow(UnknownClaim);
    await expect(claims.find(key)).rejects.toThrow(UnknownClaim);
    expect(await claims.findAnywhere(mockId)).toBe(null);
    await sweep({ atMs: key.claimBy + 24 * 60_000 });
    expect(await minutesOf(sharedDir)).toEqual([expect.stringMatching(/^\d+\.swept$/)]);
  });

  it('is kept while its minute is old by its name alone, or by its last claim alone', async () => {
    const { claims, key, sharedDir, sweep } = await prepared();
    await decide(claims, key, claimOf('.a.tmp'));
    const [minute = ''] = await minutesOf(sharedDir);
    const path = join(sharedDir, '.rule-server/claims', minute);
    const at = (ms: number) => new Date(Date.now() + ms);
    await utimes(path, at(20 * 60_000), at(20 * 60_000));
    await sweep({ atMs: Date.now() + 25 * 60_000 }); // the name's clock is behind
    expect(await claims.find(key)).not.toBe(null);
    await utimes(path, at(-20 * 60_000), at(-20 * 60_000));
    await sweep({ atMs: Date.now() + 5 * 60_000 }); // the name's clock is ahead
    expect(await claims.find(key)).not.toBe(null);
  });

  it('of a minute that a worker died sweeping is removed by the next one, and the mark goes after a day', async () => {
    const { claims, key, sharedDir, sweep } = await prepared();
    await decide(claims, key, claimOf('.a.tmp'));
    const [minute = ''] = await minutesOf(sharedDir);
    const root = join(sharedDir, '.rule-server/claims');
    await rename(join(root, minute), join(root, `${minute}.swept`));
    await expect(decide(claims, key, claimOf('.b.tmp'))).rejects.toThrow(UnknownClaim);
    await sweep({ atMs: Date.now() });
    expect(await readdir(root, { recursive: true })).toEqual([`${minute}.swept`]);
    await sweep({ atMs: Date.now() + 25 * 3_600_000 });
    expect(await readdir(root)).toEqual([]);
  });

  it('that another worker swept is forgotten here too: its folder, and the mark it left', async () => {
    const { claims, key, sharedDir, sweep } = await prepared();
    const other = createClaims(sharedDir, createFileClock(sharedDir));
    const root = join(sharedDir, '.rule-server/claims');
    const [minute = ''] = await minutesOf(sharedDir);
    const mark = join(root, `${minute}.swept`);
    await other.sweep(key.claimBy + 12 * 60_000, (error) => expect.fail(String(error)));
    await sweep({ atMs: key.claimBy + 12 * 60_000 });
    await claims.prepareUnlessPast(key);
    expect((await readdir(root)).sort()).toEqual([minute, `${minute}.swept`]);

    await rm(mark, { recursive: true });
    await sweep({ atMs: Date.now() });
    await mkdir(mark);
    await symlink('a claim of a worker that died while it swept', join(mark, mockId));
    await sweep({ atMs: Date.now() });
    expect(await readdir(mark)).toEqual([]);
  });

  it('may have been there when it can have been swept: a refusal does not count then', async () => {
    const { claims, sharedDir } = await prepared();
    const key = { mockId, claimBy: Date.now() - CLAIM_KEPT_MS };
    await expect(decide(claims, key, refusal)).rejects.toThrow(UnknownClaim);
    await mkdir(join(sharedDir, '.rule-server/claims', String(Math.floor(key.claimBy / 60_000)))); // on its way out, empty already
    await expect(decide(claims, key, refusal)).rejects.toThrow(UnknownClaim);
  });

  it('of a newer version is told from one that cannot be read at all, and neither is replaced', async () => {
    const { claims, key, sharedDir } = await prepared();
    const [bucket = ''] = await readdir(join(sharedDir, '.rule-server/claims'));
    const path = join(sharedDir, '.rule-server/claims', bucket, mockId);
    for (const [text, Kind] of [
      ['{"v":2,"file":".a.tmp"}', NewerClaim],
      ['{"v":1,"mockId"', UnknownClaim],
    ] as const) {
      await symlink(text, path);
      for (const asked of [() => claims.find(key), () => decide(claims, key, claimOf('.b.tmp'))]) {
        const error = await asked().catch((thrown) => thrown);
        expect(error.constructor).toBe(Kind);
      }
      expect(await readlink(path)).toBe(text);
      await rm(path);
    }
  });

  it('may be longer than a link can be', async () => {
    const { claims, key } = await prepared();
    const long = {
      kind: 'refused' as const,
      noAnswer: noAnswer('no-client-online', { app: 7, online: 'x'.repeat(10_000) }),
    };
    expect(await decide(claims, key, long)).toEqual(long);
    expect(await decide(claims, key, claimOf('.a.tmp'))).toEqual(long);
  });
});

function decide(claims: Claims, key: ClaimKey, decision: ClaimOrRefusal): Promise<ClaimOrRefusal> {
  return decision.kind === 'claimed' ? claims.claim(key, decision.claim) : claims.refuse(key, decision.noAnswer);
}

const refusal: ClaimOrRefusal = {
  kind: 'refused',
  noAnswer: noAnswer('no-room', {}),
};

async function prepared() {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-claims-'));
  await mkdir(join(sharedDir, '.rule-server'));
  const claims = createClaims(sharedDir, createFileClock(sharedDir));
  const key = { mockId, claimBy: Date.now() + 10_000 };
  await claims.prepareUnlessPast(key);
  const sweep = ({ atMs }: { atMs: number }) => claims.sweep(atMs, (error) => expect.fail(String(error)));
  return { claims, key, sharedDir, sweep };
}

const minutesOf = (sharedDir: string) => readdir(join(sharedDir, '.rule-server/claims'));

function claimOf(temporary: string): { kind: 'claimed'; claim: Claim } {
  const claim: Claim = {
    v: 1,
    mockId,
    app: 1,
    address: 'a',
    lane: null,
    directoryName: 'a',
    registered: true,
    dialect: 'rule',
    sdk: 'node',
    givesUp: true,
    madeDirectory: false,
    temporary,
    answerBy: Date.now() + 60_000,
  };
  return { kind: 'claimed', claim };
}
