import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlOf, flotillaOf } from '../../../web/src/ui/shell-text.ts';

const HOSTILE = ["it's", '$(reboot)', '`id`', '"quoted"', 'a;b&c|d', 'line\nbreak', '--flag', '*', '~', 'ünïcödé', ''];

/** What a shell hands to the program of a command, command by command. */
function argumentsOf(program: string, text: string): string[][] {
  const script = `${program}() { printf '%s\\001' "$@"; printf '\\002'; }\n${text}`;
  const printed = execFileSync('/bin/sh', ['-c', script], { env: { FLOTILLA_TOKEN: 'a token' }, encoding: 'utf8' });
  return printed
    .split('\u0002')
    .slice(0, -1)
    .map((line) => line.split('\u0001').slice(0, -1));
}

describe('text for a shell', () => {
  it('keeps every argument of a flotilla command as it is', () => {
    const text = flotillaOf([], ['computers', 'annotate', ...HOSTILE]);
    expect(argumentsOf('flotilla', text)).toEqual([['computers', 'annotate', ...HOSTILE]]);
  });

  it('has a flotilla api command for each request that has no other', () => {
    const body = { computer_title: "it's $HOME" };
    const requests = [1, 2].map((id) => ({ method: 'POST' as const, path: `/computers/${id}/sanitize`, body }));
    expect(argumentsOf('flotilla', flotillaOf(requests))).toEqual(
      requests.map(({ path }) => ['api', 'POST', path, '--data', JSON.stringify(body)]),
    );
  });

  it('has a curl command for each request, with the token of the environment', () => {
    const body = { key: HOSTILE.join(' ') };
    const requests = [
      { method: 'POST' as const, path: '/computers:annotate', body },
      { method: 'DELETE' as const, path: '/scripts/5' },
    ];
    const head = ['-H', 'Authorization: Bearer a token'];
    expect(argumentsOf('curl', curlOf(requests, 'https://fleet.example.com'))).toEqual([
      [
        ...['-X', 'POST', 'https://fleet.example.com/api/v2/computers:annotate', ...head],
        ...['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)],
      ],
      ['-X', 'DELETE', 'https://fleet.example.com/api/v2/scripts/5', ...head],
    ]);
  });
});
