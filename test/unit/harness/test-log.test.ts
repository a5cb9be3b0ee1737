import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectNoSecretLogged, KNOWN_SECRETS, secretsIn } from '../../../tools/harness/test-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'flotilla-test-log-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('SECRET-leak: the search of the logs of a run', () => {
  it('knows the secrets of the tests, tokens, hashes and recovery keys', () => {
    for (const secret of KNOWN_SECRETS) expect(secretsIn(`{"msg":"it is ${secret}"}`), secret).toHaveLength(1);
    const token = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhQGIuZXhhbXBsZSJ9.${'x'.repeat(43)}`;
    expect(secretsIn(`Bearer ${token}`)).toEqual(['a token']);
    expect(secretsIn(`$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA`)).toEqual(['the hash of a password']);
    expect(secretsIn('10475-22871-30996-41204-50318-61177-07842-18853')).toEqual(['a recovery key']);
    expect(secretsIn('{"level":30,"requestId":"0b1c","msg":"GET /api/v2/computers 200"}')).toEqual([]);
  });

  it('ends a run with a log that shows one, naming the line, and no other run', () => {
    const log = join(directory, '1.log');
    writeFileSync(log, '{"msg":"quiet"}\n');
    expectNoSecretLogged(directory);
    writeFileSync(log, `{"msg":"quiet"}\n{"msg":"login with ${KNOWN_SECRETS[0]}"}\n`);
    expect(() => expectNoSecretLogged(directory)).toThrow(/SECRET-leak.*\n.*1\.log: \{"msg":"login with/);
  });

  it('has nothing to search where nothing was logged', () => {
    expect(() => expectNoSecretLogged(join(directory, 'absent'))).not.toThrow();
  });
});
