import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTarget, parseTarget, TARGET_PATTERN, targetForms } from '../../../src/shared/contract/target.ts';
import { textFaultOf } from '../../../src/shared/reasons/text-faults.ts';

describe('a target', () => {
  it.each([
    ['', { kind: 'all' }],
    ['all', { kind: 'all' }],
    ['lane:blue', { kind: 'lane', lane: 'blue' }],
    ['lane:a:b/c', { kind: 'lane', lane: 'a:b/c' }],
    ['address:10.0.0.7_x1', { kind: 'address', address: '10.0.0.7_x1' }],
    ['address:[fe80::1%eth0]:80', { kind: 'address', address: '[fe80::1%eth0]:80' }],
    ['address:host/7/x', { kind: 'address', address: 'host/7/x' }],
    [`address:${'é'.repeat(125)}`, { kind: 'address', address: 'é'.repeat(125) }],
  ])('%s is read', (text, target) => {
    expect(parseTarget(text)).toEqual(target);
  });

  it.each([
    ['All', /^must be one of "all", "lane:<lane>", "address:<address>", found "All"$/],
    ['blue', /^must be one of "all"/],
    ['Lane:blue', /^must be one of "all"/],
    [' all', /^must be one of "all"/],
    [':', /^must be one of "all"/],
    ['lane:', /^names no lane: write "lane:<lane>"$/],
    ['address:', /^names no address/],
    ['address:..', /^"\.\." is a path, not a client's address$/],
    ['address:../../x', /is a path/],
    ['address:a/../b', /is a path/],
    ['address:a\\..\\b', /is a path/],
    ['address:/etc', /is a path/],
    ['address:a/', /is a path/],
    ['address:a//b', /is a path/],
    ['address:a\u0000b', /^the address contains a character that cannot be seen: "a\\u0000b"$/],
    ['address:a\u202eb', /^the address contains a character that cannot be seen: "a\\u202eb"$/],
    ['lane:a\u009b31m', /^the lane contains a character that cannot be seen: "a\\u009b31m"$/],
    ['lane:beta\u200b', /^the lane contains a character that cannot be seen: "beta\\u200b"$/],
    ['lane:a\u{e0001}', /^the lane contains a character that cannot be seen: "a\\udb40\\udc01"$/],
    ['lane:a\nb', /^the lane contains a character that cannot be seen: "a\\nb"$/],
    [`address:${'a'.repeat(251)}`, /^the address is longer than 250 bytes$/],
    [`lane:${'é'.repeat(126)}`, /^the lane is longer than 250 bytes$/],
    ['x'.repeat(10_000), /^must be .{1,200}$/],
  ])('%j is malformed, and the message says why', (text, message) => {
    const target = parseTarget(text);
    expect(target.kind === 'malformed' && textFaultOf(target.fault)).toMatch(message);
  });

  it.each(targetForms)('has the form %s that help and OpenAPI show', (form) => {
    const text = form.replace(/<.*>/, 'x');
    const target = parseTarget(text);
    expect(target.kind !== 'malformed' && formatTarget(target)).toBe(text);
    expect(text).toMatch(new RegExp(`^(${TARGET_PATTERN})$`));
  });

  it('is written as it was read', () => {
    fc.assert(
      fc.property(fc.constantFrom('lane:', 'address:'), fc.string({ unit: 'grapheme' }), (form, name) => {
        const target = parseTarget(form + name);
        if (target.kind !== 'malformed') expect(formatTarget(target)).toBe(form + name);
      }),
    );
    expect(formatTarget({ kind: 'all' })).toBe('all');
  });
});
