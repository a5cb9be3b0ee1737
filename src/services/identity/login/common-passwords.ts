import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIST: ReadonlySet<string> = new Set(
  readFileSync(join(import.meta.dirname, 'common-passwords.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')),
);

const PRODUCT = 'flotilla';

/** Whether it is a word of the list or of its context (its owner), a sequence or repetition, also when decorated. */
export function isCommonPassword(password: string, context: readonly string[]): boolean {
  const text = password.normalize('NFKC').toLowerCase();
  const words = new Set([PRODUCT, ...context.flatMap(wordsOf)]);
  const isCommon = (word: string) => LIST.has(word) || words.has(word) || isSequence(word) || isRepetition(word);
  const whole = bare(text);
  if (new Set(text).size <= FEW_CHARACTERS || isCommon(whole) || isSequence(text)) return true;
  if (isRepetitionOf(whole, (unit) => isCommonPassword(unit, context))) return true;
  const [, core = '', tail = ''] = /^[^\p{L}]*(.*?)([^\p{L}]*)$/su.exec(text) ?? [];
  // With one or two letters, only the digits around them count.
  if ([...core].length <= SHORT) return isCommon(whole.replace(/\P{N}/gu, ''));
  const cores = TAIL_LETTERS.flatMap((length) => readingsOf(`${core}${tail.slice(0, length)}`));
  return cores.some((word) => isCommon(word) || isRepetitionOf(word, isCommon));
}

const SHORT = 2;
/** Symbols after the last letter that may stand for letters, as in `hell0`. */
const TAIL_LETTERS = [0, 1, 2];
const FEW_CHARACTERS = 3;
const SHORTEST_SEQUENCE = 4;

function bare(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '');
}

const SIGNS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  '+': 't',
  '€': 'e',
};

function readingsOf(word: string): string[] {
  const read = (signs: Readonly<Record<string, string>>) => bare([...word].map((sign) => signs[sign] ?? sign).join(''));
  return [bare(word), read(SIGNS), read({ ...SIGNS, '1': 'l', '!': 'l' })];
}

function wordsOf(text: string): string[] {
  const lower = text.normalize('NFKC').toLowerCase();
  const [local = '', domain = ''] = lower.split('@');
  const parts = [lower, local, domain, ...lower.split(/[^\p{L}\p{N}]+/u)];
  const words = parts.map(bare).flatMap((word) => [word, word.replace(/\p{N}+$/u, '')]);
  return words.filter((word) => [...word].length > SHORT);
}

const ROWS = [
  '0123456789'.repeat(13),
  'abcdefghijklmnopqrstuvwxyz'.repeat(5),
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1qazxsw23edcvfr45tgbnhy67ujm',
  'zaq12wsxcde34rfvbgt56yhnmju7',
  'zaq1xsw2cde3vfr4bgt5nhy6mju7',
  'zxcvbnmasdfghjklqwertyuiop',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  'aabbccddeeffgghhiijjkkll',
  '001122334455667788990011',
  '123456789101112131415161718192021',
  '147258369147258369',
  '789456123789456123',
  '159753159753159753',
  '!@#$%^&*()_+',
];
const SEQUENCES = ROWS.flatMap((row) => [row, [...row].reverse().join('')]);

function isSequence(word: string): boolean {
  return word.length >= SHORTEST_SEQUENCE && SEQUENCES.some((sequence) => sequence.includes(word));
}

function isRepetition(word: string): boolean {
  return [2, 3, 4].some((length) => word.length >= 2 * length && word === repeated(word, length));
}

function isRepetitionOf(word: string, isCommon: (unit: string) => boolean): boolean {
  for (let length = SHORTEST_SEQUENCE; length < word.length; length += 1) {
    if (word === repeated(word, length) && isCommon(word.slice(0, length))) return true;
  }
  return false;
}

function repeated(word: string, length: number): string {
  return word
    .slice(0, length)
    .repeat(Math.ceil(word.length / length))
    .slice(0, word.length);
}
