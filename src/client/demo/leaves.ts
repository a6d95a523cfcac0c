import { setTimeout as sleep } from 'node:timers/promises';
import type { Data } from '../engine/data/data.ts';
import { describeLeaf, type Leaves } from '../leaves/leaf.ts';

class SpendThreshold {
  min = 0;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}

class BlockedUser {
  uids: (number | bigint)[] = [];
  doFlow(service: Data): boolean {
    const uid = service.long('uid');
    return this.uids.some((blocked) => BigInt(blocked) === uid);
  }
}

class MemberLevel {
  min = 1;
  doFlow(service: Data): boolean {
    return service.int('level', 0) >= this.min;
  }
}

/** How the next version of the service keeps the level. */
class NestedMemberLevel {
  min = 1;
  doFlow(service: Data): boolean {
    return service.deep.int('vip.level', 0) >= this.min;
  }
}

class InCity {
  cities: string[] = [];
  /** The text about somebody whose city is not known. */
  unknown = true;
  doFlow(service: Data): boolean {
    const city = service.string('city');
    return city === undefined ? this.unknown : this.cities.includes(city);
  }
}

class GiveCoupon {
  amount = 0;
  reason = '';
  doResult(service: Data): boolean {
    service.put('coupon', { amount: this.amount, reason: this.reason });
    return true;
  }
}

class GiveLastingCoupon extends GiveCoupon {
  override doResult(service: Data): boolean {
    service.put('coupon', { amount: this.amount + 5, reason: this.reason, days: 30 });
    return true;
  }
}

class GivePoints {
  /** Money for one point. */
  per = 1;
  key = 'points';
  doResult(service: Data): boolean {
    const points = Math.floor(service.double('cost', 0) / this.per);
    if (points > 0) service.put(this.key, service.int(this.key, 0) + points);
    return points > 0;
  }
}

class LookUpProfile {
  ms = 0;
  async doNone(service: Data): Promise<void> {
    await sleep(this.ms, undefined, { signal: service.signal });
    service.put('profile', { uid: service.long('uid', 0n), since: 2019 });
  }
}

class ChargeCard {
  doResult(service: Data): boolean {
    throw new Error(`the card service refused ${service.double('cost', 0)}`);
  }
}

const atLeast = (key: string) => ({ key, is: '>=', field: 'min', missing: 0 }) as const;
const money = { name: 'Amount', desc: 'in whole units', type: 'double' } as const;

const memberLevel = { name: 'Member of level', fields: { min: { name: 'Level', type: 'int' } } } as const;

/** The leaf classes of the demo's service, by the names its rules call them by. */
export const demoLeaves: Leaves = {
  'demo.SpendThreshold': describeLeaf({
    leaf: SpendThreshold,
    ...{ name: 'Spent at least', order: 1, fields: { min: money } },
    comparison: atLeast('cost'),
  }),
  'demo.BlockedUser': {
    leaf: BlockedUser,
    ...{ name: 'Blocked user', order: 2 },
    comparison: { key: 'uid', is: 'in', field: 'uids', missing: false },
  },
  'demo.MemberLevel': describeLeaf({ leaf: MemberLevel, ...memberLevel, comparison: atLeast('level') }),
  'demo.InCity': {
    leaf: InCity,
    ...{ name: 'Lives in', desc: 'one of the listed cities' },
    comparison: { key: 'city', is: 'in', field: 'cities', missing: 'unknown' },
  },
  'demo.GiveCoupon': describeLeaf({
    ...{ leaf: GiveCoupon, name: 'Give a coupon' },
    fields: { amount: money, reason: { name: 'Reason' } },
  }),
  'demo.GivePoints': { leaf: GivePoints, name: 'Give points', desc: 'one for every so much spent' },
  'demo.LookUpProfile': {
    ...{ leaf: LookUpProfile, name: 'Look up the profile', desc: 'takes as long as configured' },
    effects: false,
  },
  'demo.ChargeCard': { leaf: ChargeCard, name: 'Charge the card', desc: 'always fails' },
};

/** The same service in the lane `beta`: its coupons are worth more and last. */
export const betaLeaves: Leaves = { ...demoLeaves, 'demo.GiveCoupon': GiveLastingCoupon };

/** The same service in the lane `next`: it reads the level from another place. */
export const nextLeaves: Leaves = {
  ...demoLeaves,
  'demo.MemberLevel': describeLeaf({ leaf: NestedMemberLevel, ...memberLevel, comparison: atLeast('vip.level') }),
};
