import fc from '../random.ts';
import type { ReferenceQuery, ReferenceTerm } from './query-reference.ts';
import { ADDRESSES, CONTRACTS, GROUPS, KEYS, MACS, NAMES, PROFILE_TYPES, TAGS, TEXTS } from './query-world.ts';
import type { StoredWorld } from './query-world-rows.ts';

/** Values that mean something to SQL, to patterns or to the language itself. */
export const NASTY = [
  "'",
  "' or 1=1 --",
  '; drop table computer',
  '/* */',
  '\\',
  '%',
  '_',
  '%00',
  '$$',
  '$1',
  'ʼ',
  'UNION SELECT 1',
  'OR',
  'NOT',
  '(',
  '東京',
  ' ',
];

const oneOf = (values: readonly string[]) => fc.constantFrom(...values, ...NASTY);
/** A piece of one of the texts, or something else. */
const partOf = (values: readonly string[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...values), fc.nat(8), fc.integer({ min: 1, max: 6 })).map(cut) },
    { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
  );
const cut = ([text, from, length]: [string, number, number]) => [...text].slice(from, from + length).join('');
const exactly = (...values: string[]) => fc.constantFrom(...values);
const days = fc.constantFrom('0', '5', '10', '11', '30', '31', '99', '1000', '99999999999999999999');
const swapCase = (value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.nat(2)).map(([text, how]) => [text, text.toUpperCase(), text.toLowerCase()][how]!);

function valuesOf(stored: StoredWorld): Readonly<Record<string, fc.Arbitrary<string>>> {
  const hostnames = NAMES.flatMap((name) => [name, `${name}.fleet.example`]);
  const annotation = fc
    .tuple(oneOf(KEYS), fc.option(partOf(TEXTS)))
    .map(([key, part]) => (part === null ? key : `${key}:${part}`));
  const profile = fc
    .tuple(fc.constantFrom(...PROFILE_TYPES), fc.constantFrom('0', '1', '2', '3', '99999999999'), fc.nat(2))
    .map(([type, id, status]) => `${type}:${id}${type === 'wsl' ? ['', ':compliant', ':noncompliant'][status] : ''}`);
  const usgIds = [...stored.usg.flatMap((profiles) => Object.values(profiles)), 0, 99_999_999_999].map(String);
  const usg = fc
    .tuple(fc.constantFrom('usg', 'security'), fc.constantFrom(...usgIds), fc.nat(3))
    .map(([type, id, status]) => `${type}:${id}${['', ':pass', ':fail', ':in-progress'][status]}`);
  const ids = [...stored.ids.map(String), '0', '007', '2147483648', '99999999999999999999'];
  const seats = stored.seats.flatMap((seat) => Object.values(seat).map(String));
  return {
    tag: oneOf(TAGS),
    hostname: swapCase(oneOf(hostnames)),
    title: swapCase(oneOf(NAMES)),
    distribution: swapCase(oneOf(['22.04', '24.04', 'noble', 'questing', '26.10', 'windows', '10.0 - 11.0'])),
    alert: exactly('package-upgrades', 'security-upgrades', 'package-reporter', 'computer-offline', 'computer-reboot'),
    'access-group': oneOf(Object.keys(GROUPS)),
    'access-group-recursive': oneOf(Object.keys(GROUPS)),
    id: fc.constantFrom(...ids),
    mac: swapCase(partOf(MACS)),
    ip: swapCase(partOf(ADDRESSES)),
    search: exactly('first', 'second', 'everything'),
    needs: exactly('reboot', 'license'),
    'license-id': oneOf([...seats, 'none', '0']),
    annotation,
    profile: fc.oneof(profile, usg),
    'release-upgrade': exactly('available'),
    'license-type': exactly('unlicensed', 'pro', 'free_pro', 'legacy'),
    contract: oneOf([...CONTRACTS.map(({ id }) => id), 'c-other']),
    'contract-expires-within-days': days,
    'license-expires-within-days': days,
    'has-pro-management': exactly('true', '1', 'YES', 'on', 'false', '0', 'No', 'off'),
    has: exactly('upgrade-profile'),
    'instance-id': oneOf(['i-1', 'i-2', 'null']),
    'instance-type': oneOf(['t3.small', 'null']),
    'ami-id': oneOf(['ami-1', 'null']),
    'availability-zone': oneOf(['zone-a', 'null']),
  };
}

/** Names of all selectors that the terms below draw from. */
export const SELECTOR_NAMES = Object.keys(valuesOf({ accounts: [0, 0], ids: [1], seats: [], usg: [] }));

/** One term with a keyword or any selector. */
export function aTerm(stored: StoredWorld): fc.Arbitrary<ReferenceTerm> {
  const selectors = Object.entries(valuesOf(stored)).map(([selector, value]) =>
    value.map((text): ReferenceTerm => ({ selector, value: text })),
  );
  const keyword = swapCase(partOf(NAMES)).map((value): ReferenceTerm => ({ selector: null, value }));
  return fc.oneof({ weight: 3, arbitrary: keyword }, ...selectors);
}

/** A query of up to four clauses of up to three factors. */
export function aQuery(term: fc.Arbitrary<ReferenceTerm>): fc.Arbitrary<ReferenceQuery> {
  const factor = fc.record({ nots: fc.nat(3), term });
  return fc.array(fc.array(factor, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
}

/** How a query is spelled where the language leaves a choice; one number for each choice, over and over. */
export const aSpelling = fc.array(fc.nat(11), { minLength: 1, maxLength: 8 });

/** The text of a query. */
export function spell(query: ReferenceQuery, spelling: readonly number[]): string {
  let drawn = 0;
  const draw = (choices: readonly string[]) => choices[spelling[drawn++ % spelling.length]! % choices.length]!;
  const factors = (clause: ReferenceQuery[number]) =>
    clause
      .map(({ nots, term }) => `${`NOT${draw([' ', '  '])}`.repeat(nots)}${spellTerm(term, draw)}`)
      .join(draw([' OR ', '  OR\t']));
  return query.map(factors).join(draw([' ', ' AND ', '\n']));
}

function spellTerm({ selector, value }: ReferenceTerm, draw: (choices: readonly string[]) => string): string {
  const plain = value !== '' && !/[\s"]/.test(value);
  const escaped = (text: string) => text.replace(/["\\]/g, '\\$&');
  const quoted = `"${escaped(value)}"`;
  if (selector === null) {
    const keyword = plain && !value.includes(':') && !['AND', 'OR', 'NOT'].includes(value);
    return keyword ? draw([value, quoted, `"${escaped(value.slice(0, 1))}"${value.slice(1)}`]) : quoted;
  }
  const later = plain && !['AND', 'OR', 'NOT'].includes(value) ? [`${selector}: ${value}`] : [];
  return draw([
    ...(plain ? [`${selector}:${value}`] : []),
    `${selector}:${quoted}`,
    `${selector}: ${quoted}`,
    ...later,
  ]);
}
