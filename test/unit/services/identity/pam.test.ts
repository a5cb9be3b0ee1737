import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPamAuthenticator, pamCommand } from '../../../../src/services/identity/pam/pam.ts';
import { type Folder, hasPam, SCRIPTED_HELPER, temporaryFolder } from '../../../support/common/process.ts';

let folder: Folder;
let scripted: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  scripted = await folder.write('scripted.sh', SCRIPTED_HELPER, 0o755);
});
afterAll(() => folder.remove());

const requested = (helper: string, timeoutMs = 5000) =>
  createPamAuthenticator({ command: [helper], service: 'fleet', programPath: process.env['PATH'], timeoutMs });
const login = (identity: string, password: string, address = '192.0.2.1') => ({
  identity,
  password,
  storedHash: null,
  address,
});
const unavailable = { code: 'ServiceUnavailable', retryAfterSeconds: 5 };

describe('a helper program', () => {
  it('reports yes or no by its exit status', async () => {
    expect(await requested(scripted).verify(login('ada', 'right horse'))).toBe(true);
    expect(await requested(scripted).verify(login('ada', 'wrong'))).toBe(false);
    expect(await requested(scripted).verify(login('bob', 'right horse'))).toBe(false);
  });

  it('that cannot decide, is missing, or dies counts as unavailable', async () => {
    const dying = await folder.write('dying.sh', '#!/bin/sh\nkill -9 $$\n', 0o755);
    const deaf = await folder.write('deaf.sh', '#!/bin/sh\nexec 0<&-\nexit 9\n', 0o755);
    await expect(requested(scripted).verify(login('away', 'x'))).rejects.toMatchObject(unavailable);
    for (const helper of [`${folder.path}/missing`, folder.path, dying, deaf]) {
      await expect(requested(helper).verify(login('ada', 'x'.repeat(1000)))).rejects.toMatchObject(unavailable);
    }
  });

  it('that hangs is ended with everything it started', async () => {
    const text = `#!/bin/sh\nsleep 600 &\necho "$$ $!" > ${folder.path}/pids\nwait\n`;
    const hanging = await folder.write('hanging.sh', text, 0o755);
    await expect(requested(hanging, 2000).verify(login('ada', 'x'))).rejects.toMatchObject(unavailable);
    const pids = (await readFile(`${folder.path}/pids`, 'utf8')).trim().split(' ');
    expect(pids).toHaveLength(2);
    for (const pid of pids) await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('that hangs for one address leaves slots to another', async () => {
    const pam = requested(scripted);
    const hanging = Array.from({ length: 10 }, () => pam.verify(login('hang', 'x', '192.0.2.1')).catch(() => 'ended'));
    const first = await Promise.race([pam.verify(login('ada', 'right horse', '192.0.2.2')), ...hanging]);
    expect(first).toBe(true);
    expect(await Promise.all(hanging)).toEqual(Array(10).fill('ended'));
  });

  it('does not get the password as an argument or in its environment', async () => {
    const recording = await folder.write(
      'recording.sh',
      `#!/bin/sh\n{ env; echo "$0 $*"; } > ${folder.path}/recorded\n`,
      0o755,
    );
    await requested(recording).verify(login('ada', 'right horse'));
    const reported = await readFile(`${folder.path}/recorded`, 'utf8');
    expect(reported).toContain('PATH=');
    expect(reported).not.toMatch(/right horse|FLOTILLA/);
  });
});

describe('our own helper', () => {
  it('calls the PAM of the machine, and is unavailable where there is none', async () => {
    const check = `#!/bin/sh\n[ "$PAM_USER" = ada ] && [ "$(tr -d '\\000')" = "right horse" ]\n`;
    const program = await folder.write('check.sh', check, 0o755);
    const account = 'account required pam_permit.so\n';
    await folder.write('fleet', `auth required pam_exec.so quiet expose_authtok ${program}\n${account}`);
    await folder.write('closed', 'auth required pam_permit.so\naccount required pam_deny.so\n');
    const [python, ...args] = pamCommand({ helper: null });
    const verify = (service: string, identity: string, password: string) =>
      createPamAuthenticator({ command: [python, ...args, folder.path], service })
        .verify(login(identity, password))
        .catch((error: { code: string }) => error.code);
    const responses = [
      await verify('fleet', 'ada', 'right horse'),
      await verify('fleet', 'ada', 'wrong'),
      await verify('fleet', 'bob', 'right horse'),
      await verify('closed', 'ada', 'right horse'),
      await verify('missing', 'ada', 'right horse'),
    ];
    const none = 'ServiceUnavailable';
    expect(responses).toEqual(hasPam() ? [true, false, false, false, none] : Array(5).fill(none));
  });
});

/** False too for what has ended and waits for its parent to notice. */
async function isRunning(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !/\) Z/.test(stat);
}
