import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { enrolmentTexts } from '../../../web/src/pages/settings/enrolment-texts.ts';

const SERVER = { address: 'https://fleet.example:8090/', account: 'standalone' };

/** The arguments that a shell makes of the commands. */
function argumentsOf(commands: string): string[] {
  const script = `sudo() { printf '%s\\n' "$@"; }; hostname() { echo web-01; }; ${commands}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}

describe('the commands that add a computer', () => {
  it('reach a shell as they are meant, whatever the registration key', () => {
    const registrationKey = `it's "$HOME" # 100%`;
    const given = argumentsOf(enrolmentTexts({ ...SERVER, registrationKey }).commands);
    const optionValue = (option: string) => given[given.indexOf(option) + 1];
    expect(optionValue('--registration-key')).toBe(registrationKey);
    expect(optionValue('--url')).toBe('https://fleet.example:8090/message-system');
    expect(optionValue('--ping-url')).toBe('https://fleet.example:8090/ping');
    expect(optionValue('--computer-title')).toBe('web-01');
  });

  it('have no registration key where there is none', () => {
    const { commands, configuration } = enrolmentTexts({ ...SERVER, registrationKey: null });
    expect(commands).not.toContain('--registration-key');
    expect(configuration).not.toContain('registration_key');
  });

  it('are a file as well, with quotation marks where the client needs them', () => {
    const lines = (registrationKey: string) => enrolmentTexts({ ...SERVER, registrationKey }).configuration.split('\n');
    expect(lines('plain-key')).toContain('registration_key = plain-key');
    expect(lines('a # b, c')).toContain('registration_key = "a # b, c"');
    expect(lines('a "b"')).toContain(`registration_key = 'a "b"'`);
  });
});
