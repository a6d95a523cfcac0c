import { setTimeout as sleep } from 'node:timers/promises';
import type { Data } from '../../../src/client/engine/data/data.ts';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

class ScoreFlow {
  score = 0;
  key = 'score';
  memo = '';
  doFlow(service: Data): boolean {
    const value = service.getDeep(this.key);
    return isNumber(value) && value >= this.score;
  }
}

class AgeFlow {
  min = 0;
  doFlow(service: Data): boolean {
    const age = service.get('age');
    return isNumber(age) && age >= this.min;
  }
}

class UidFlow {
  doFlow(service: Data): boolean {
    return service.get('uid') != null;
  }
}

class AmountResult {
  prefix = '';
  amount = 0;
  doResult(service: Data): boolean {
    const uid = service.get('uid');
    if (uid == null) return false;
    service.put(`${this.prefix}sent`, { uid, amount: this.amount });
    service.put('count', service.int('count', 0) + 1);
    return true;
  }
}

class BoomFlow {
  text = 'kaboom';
  doFlow(): boolean {
    throw new Error(this.text);
  }
}

class SleepNone {
  ms = 0;
  async doNone(): Promise<void> {
    await sleep(this.ms);
  }
}

class ProbeNone {
  key = '';
  doNone(service: Data): void {
    service.putDeep('probe.last', service.get(`pre_${this.key}`) ?? null);
  }
}

class DerivedNone {
  doNone(service: Data): void {
    const which = service.string('which');
    service.put('derived', which === undefined ? null : service.get(which));
  }
}

class UnionNone {
  expr = '';
  doNone(service: Data): void {
    service.put('union', service.resolve(this.expr));
  }
}

class TypesNone {
  doNone(): void {}
}

/** The leaves that the captured rules of app 7 are made of, under the names every host application gives them. */
export const sampleLeaves: Leaves = {
  'com.sample.ScoreFlow': { leaf: ScoreFlow, name: 'Score check' },
  'com.sample.AgeFlow': { leaf: AgeFlow, alias: 'age_flow' },
  'com.sample.UidFlow': UidFlow,
  'com.sample.AmountResult': AmountResult,
  'com.sample.BoomFlow': BoomFlow,
  'com.sample.SleepNone': SleepNone,
  'com.sample.ProbeNone': ProbeNone,
  'com.sample.DerivedNone': DerivedNone,
  'com.sample.UnionNone': UnionNone,
  'com.sample.TypesNone': TypesNone,
};
