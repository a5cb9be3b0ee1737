import { describe, expect, it } from 'vitest';
import { isCommonPassword } from '../../../../src/services/identity/login/common-passwords.ts';
import { processorMs } from '../../../support/common/process.ts';

const OWN = ['jane.doe@fleet.example', 'Jane Doe', 'Organization'];

describe('isCommonPassword', () => {
  it.each([
    'password1234',
    'Password2026!',
    'P@$$w0rd!2026',
    'pa55w0rd----',
    '1234password',
    'passwordpassword',
    'passwordpass',
    'Administrator',
    'adm1nistrat0r',
    'We1come12345',
    'h3ll0!!!!!!!',
    'let me in 2026',
    'changeme1234',
    'iloveyou9999',
    'Summer2026!!',
    'DRAGONDRAGON',
    'trustno1trustno1',
    'Hunter2hunter2',
    'asdf1234asdf',
    'contraseña123',
    'correct horse battery staple',
  ])('knows %s by its word', (password) => {
    expect(isCommonPassword(password, [])).toBe(true);
  });

  it.each([
    '123456789012',
    '210987654321',
    'abcdefghijkl',
    'qwertyuiop12',
    'QWERTZUIOPAS',
    '1qaz2wsx3edc',
    '1q2w3e4r5t6y',
    '!!qwerty123456',
    'a12345678901',
    'aaaaaaaaaaaa',
    'abababababab',
    'abcabcabcabc',
    '202620262026',
    '123456123456',
    '112233445566',
    '147258369147',
    'a1b2c3d4e5f6',
    'zaq12wsxcde3',
    '!@#$%^&*()_+',
    '............',
    '😀'.repeat(12),
  ])('knows %s by its pattern', (password) => {
    expect(isCommonPassword(password, [])).toBe(true);
  });

  it.each(['flotilla2026!', 'Fl0tilla1234', 'janedoe12345', 'Jane.Doe-2026', 'organization1', 'fleetexample1'])(
    'knows %s by its surroundings',
    (password) => {
      expect(isCommonPassword(password, OWN)).toBe(true);
    },
  );

  it.each([
    'correct horse',
    'battery staple',
    'my own words',
    'Str0ngEnough',
    'caf\u00e9 noir et blanc',
    '837261940283',
    'Channel-4711',
    'hovercraft of eels',
    'kT9vW2mQx7Lp',
    'jane was here first',
    '😀😁😂🤣😃😄😅😆😉😊😋😎',
    'ｐasswort kommt nie',
  ])('takes %s', (password) => {
    expect(isCommonPassword(password, OWN)).toBe(false);
  });

  it('takes no time for a long one', async () => {
    const passwords = Array.from({ length: 100 }, (_, i) => `${'a1b2'.repeat(31)}${i}`);
    expect(await processorMs(() => passwords.map((password) => isCommonPassword(password, OWN)))).toBeLessThan(1000);
  });
});
