import { describe, expect, test } from 'vitest';
import { offsetName, printMoment, readMoment } from '../../src/shared/contract/moment.ts';

const at = (text: string) => ({ kind: 'moment', ms: String(Date.parse(text)) });

describe('a moment that is typed', () => {
  test.each([
    '2026-11-20T18:00:00+08:00',
    '2026-11-20T10:00:00Z',
    '2026-11-20 10:00Z',
    '2026-11-20T10Z',
    '20261120T180000+0800',
    '2026-11-20T05:00:00-05',
    '2026-324T18:00+08:00',
    '2026-W47-5T18:00+08:00',
    '2026-11-20T10:00:00,000Z',
  ])('is any ISO 8601 with an offset: %s', (text) => {
    expect(readMoment(text, 'America/Lima')).toEqual(at('2026-11-20T10:00:00Z'));
  });

  test('without an offset is of the zone that was chosen, in summer and in winter', () => {
    expect(readMoment('2026-11-20 18:00:00', 'Asia/Shanghai')).toEqual(at('2026-11-20T10:00:00Z'));
    expect(readMoment('2026-07-01 12:00', 'Europe/Berlin')).toEqual(at('2026-07-01T10:00:00Z'));
    expect(readMoment('2026-01-01', 'Europe/Berlin')).toEqual(at('2025-12-31T23:00:00Z'));
    expect(readMoment('2026-01-31 08:00:00.007', 'UTC')).toEqual(at('2026-01-31T08:00:00.007Z'));
  });

  test('is milliseconds as they are', () => {
    expect(readMoment('1795302149254', 'UTC')).toEqual({ kind: 'moment', ms: '1795302149254' });
  });

  test.each(['20.03.2026', 'yesterday', '2026-02-30', '2026-13-01', '2026-01-01 24:00', '2026-01-01 10:61', '', '42'])(
    'is none: %s',
    (text) => {
      expect(readMoment(text, 'UTC')).toEqual({ kind: 'no-time' });
    },
  );

  test.each([
    ['2026-03-29 02:30', 'Europe/Berlin', 'time-skipped'],
    ['2026-10-25 02:30', 'Europe/Berlin', 'time-twice'],
    ['2026-10-25 02:00', 'Europe/Berlin', 'time-twice'],
    ['2026-11-01 01:30', 'America/New_York', 'time-twice'],
    ['2026-03-08 02:30', 'America/New_York', 'time-skipped'],
    ['2026-04-05 01:45', 'Australia/Lord_Howe', 'time-twice'],
    ['2011-12-30 12:00', 'Pacific/Apia', 'time-skipped'],
    ['2026-11-20 10:00', undefined, 'time-without-offset'],
  ])('is not guessed: %s in %s', (text, zone, kind) => {
    expect(readMoment(text, zone)).toEqual({ kind });
  });

  test('is the one that its offset says, also where clocks are changed', () => {
    expect(readMoment('2026-10-25 02:30+02:00', 'Europe/Berlin')).toEqual(at('2026-10-25T00:30:00Z'));
    expect(readMoment('2026-10-25 03:00', 'Europe/Berlin')).toEqual(at('2026-10-25T02:00:00Z'));
    expect(readMoment('2026-10-25 01:59:59', 'Europe/Berlin')).toEqual(at('2026-10-24T23:59:59Z'));
  });

  test.each(['Asia/Shanghai', 'America/St_Johns', 'UTC'])('is read back as it is shown, in %s', (zone) => {
    for (const ms of ['1795302149254', '1772323200000', '1772323199999']) {
      expect(readMoment(printMoment(ms, zone), zone)).toEqual({ kind: 'moment', ms });
    }
  });

  test('says how far its zone is from UTC', () => {
    expect(offsetName('1795302149254', 'Asia/Shanghai')).toBe('UTC+08:00');
    expect(offsetName('1795302149254', 'America/St_Johns')).toBe('UTC−03:30');
  });
});
