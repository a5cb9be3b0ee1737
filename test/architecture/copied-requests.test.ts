import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** They begin and end sessions, which a shell does by a token. */
const WITHOUT_COPY = ['web/src/session/first-account-form.tsx', 'web/src/session/session.ts'];
/** They only compute something. */
const WITHOUT_EFFECT = /:preview-dates$/;
const CALL = /client\.(POST|PUT|PATCH|DELETE)\(\s*(?:['`]([^'`]+)['`]|(\w+))/g;

/** Requests of a file that change something, and whose path it has nowhere else: not in the request to copy. */
function notCopied(text: string): string[] {
  const others = text.replaceAll(CALL, '');
  return [...text.matchAll(CALL)].flatMap(([, method, path, constant]) => {
    const template = (path ?? '').replaceAll(/\$?\{[^}]*\}/g, '\\$\\{[^}]*\\}');
    const copied = constant ? `path: ${constant}\\b` : `['\`]${template}['\`]`;
    if (path && WITHOUT_EFFECT.test(path)) return [];
    return new RegExp(copied).test(others) ? [] : [`${method} ${path ?? constant}`];
  });
}

describe('the web page', () => {
  it('offers every request that changes something as a command', () => {
    const files = globSync('web/src/**/*.{ts,tsx}').filter((file) => !WITHOUT_COPY.includes(file));
    const calls = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(CALL)]);
    expect(calls.length).toBeGreaterThan(40);
    const missing = files.flatMap((file) => notCopied(readFileSync(file, 'utf8')).map((call) => `${file}: ${call}`));
    expect(missing).toEqual([]);
  });

  it('is found wanting where one is missing', () => {
    const call = "client.DELETE('/roles/{role_name}', { params })";
    expect(notCopied(call)).toEqual(['DELETE /roles/{role_name}']);
    expect(notCopied(`${call}; request={{ method: 'DELETE', path: \`/roles/\${name}\` }}`)).toEqual([]);
    expect(notCopied('client.PUT(PATH, { body })')).toEqual(['PUT PATH']);
  });
});
