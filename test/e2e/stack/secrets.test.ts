import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStack, type TestStack } from '../../../tools/harness/stack.ts';
import { readAgentIdentities } from '../../../tools/harness/stack-access.ts';
import { type MailServer, startMailServer } from '../../support/http/servers.ts';
import { base64 } from '../../support/scripts/scripts.ts';
import {
  allHistories,
  columnsWith,
  createCanaries,
  filesWith,
  RecordingClient,
} from '../../support/stack/secret-scan.ts';

const EMAIL = 'admin@example.com';
const LIMIT_MS = 500_000;
const canaries = createCanaries();
/** Secrets that the stack generates, as its responses showed them once. */
const made: Record<string, string> = {};

let stack: TestStack;
let mail: MailServer;
let api: RecordingClient;

/** One stack on which every route that carries a secret is called, rightly and wrongly; then everything is searched. */
describe('SECRET-leak: secrets', { timeout: LIMIT_MS }, () => {
  beforeAll(async () => {
    mail = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ password }, _, done) =>
        password === canaries.smtpPassword ? done(null, { user: 'flotilla' }) : done(new Error('rejected')),
    });
    stack = await createStack({
      FLOTILLA_ADMIN_PASSWORD: canaries.adminPassword,
      FLOTILLA_JWT_SECRET: canaries.jwtSecret,
      FLOTILLA_ENCRYPTION_KEYS: `canary:${canaries.encryptionKey}`,
      FLOTILLA_SMTP_URL: mail.url.replace('//', `//flotilla:${canaries.smtpPassword}@`),
      FLOTILLA_LOG_LEVEL: 'trace',
    });
    await stack.start();
    api = new RecordingClient(stack.url);
    await useLogins();
    await usePeople();
    const computers = await enrolled();
    await Promise.all([useScripts(), useTailoring(), useRecoveryKey()]);
    expect(computers).toBeGreaterThan(0);
    await sendInvalidRequests();
    const identities = await readAgentIdentities(stack.dataDir);
    for (const [index, value] of identities.entries()) made[`secure id ${index}`] = value;
  }, LIMIT_MS);

  afterAll(async () => {
    await stack?.dispose();
    await mail?.close();
  }, 60_000);

  /** What nobody may find anywhere. */
  const secrets = () => Object.entries({ ...canaries, ...made });
  /** Of each searched text, the names of the secrets in it. */
  const found = (text: string) => secrets().flatMap(([name, value]) => (text.includes(value) ? [name] : []));

  it('are collected, or the search would find nothing', () => {
    for (const name of ['token', 'secretKey', 'secureId', 'emailToken', 'recoveryKey', 'secure id 3']) {
      expect(made[name]?.length, name).toBeGreaterThan(15);
    }
    expect(mail.received.length).toBeGreaterThan(1);
    expect(api.responses.length).toBeGreaterThan(60);
  });

  it('are in no response but those of requests for them', () => {
    const leaks = api.responses.flatMap(({ request, text }) => found(text).map((name) => `${name} in ${request}`));
    expect(leaks).toEqual([]);
  });

  it('are in no command line of a process', () => {
    const processes = stack.processes();
    expect(new Set(processes.map(({ role }) => role)).size).toBeGreaterThan(3);
    for (const { role, command } of processes) expect(found(command), role).toEqual([]);
  });

  it('are in no column of the database but those made for them', async () => {
    expect(await columnsWith(stack, Object.fromEntries(secrets()))).toEqual({
      // In clear for the agents that have to run them, and for those who may read scripts and profiles.
      scriptCode: ['operation_payload.fields', 'script_version.code'],
      editedCode: ['operation_payload.fields', 'script_version.code'],
      attachment: ['script_attachment.content'],
      tailoring: ['operation_payload.fields', 'stored_file_chunk.content'],
      // Chosen to be read: whoever manages the account gives it to the computers, as it gives out invitations.
      registrationKey: ['account.registration_key'],
      secureId: ['invitation.secure_id'],
    });
  });

  it('are in no history of a workflow, decrypted', async () => {
    const { workflows, text } = await allHistories(stack);
    expect(workflows).toBeGreaterThan(20);
    expect(found(text)).toEqual([]);
  });

  it('are in no metric', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${stack.ports.metrics}/metrics`)).text();
    expect(metrics.length).toBeGreaterThan(500);
    expect(found(metrics)).toEqual([]);
  });

  it('are in no file: logs, both databases, write-ahead logs, whatever there is', async () => {
    await stack.administer('checkpoint');
    const { code } = await stack.stop();
    expect(code).toBe(0);
    expect(readFileSync(stack.outputFile, 'utf8').length).toBeGreaterThan(100);
    // The database holds these, see above; the simulated computers hold who they are and what they are to run.
    const inDatabase = ['scriptCode', 'editedCode', 'attachment', 'tailoring', 'registrationKey', 'secureId'];
    const ofComputers = /^(secure id|scriptCode|editedCode|tailoring)/;
    const leaks: string[] = [];
    for (const [name, value] of secrets()) {
      for (const file of filesWith(stack.root, value)) {
        const isAllowed =
          (inDatabase.includes(name) && file.startsWith('data/postgres/')) ||
          (ofComputers.test(name) && file.startsWith('data/fleet/'));
        if (!isAllowed) leaks.push(`${name} in ${file}`);
      }
    }
    expect(leaks).toEqual([]);
  });
});

async function useLogins(): Promise<void> {
  await api.call('POST', '/login', { email: EMAIL, password: canaries.wrongPassword });
  await api.call('POST', '/login', { identity: EMAIL, password: canaries.wrongPassword });
  const login = await api.call('POST', '/login', { email: EMAIL, password: canaries.adminPassword }, { quoted: true });
  api.token = login.token;
  made['token'] = login.token;
  const wanted = { account: 'standalone', password: canaries.adminPassword };
  const pair = await api.call('POST', '/credentials', wanted, { quoted: true });
  made['secretKey'] = pair.secret_key;
  const keys = { access_key: pair.access_key, secret_key: pair.secret_key };
  expect((await api.call('POST', '/login/access-key', keys, { quoted: true })).status).toBe(200);
  await api.call('POST', '/login/access-key', { ...keys, secret_key: canaries.wrongSecretKey });
  expect((await api.call('POST', '/person:test-email')).status).toBe(204);
}

async function usePeople(): Promise<void> {
  expect((await api.call('POST', '/person', { email: 'wanted@example.com' })).pending_email).toBe('wanted@example.com');
  const sent = mail.received.find(({ to }) => to[0] === 'wanted@example.com')!;
  made['emailToken'] = /^Token: (\S+)$/m.exec(sent.text)![1]!;
  expect((await api.call('POST', '/person:confirm-email', { token: canaries.wrongInvitation })).status).toBe(404);
  const guest = { name: 'Guest', email: 'guest@example.com' };
  const invitation = await api.call('POST', '/invitations', guest, { quoted: true });
  made['secureId'] = invitation.secure_id;
  // Withdrawn ones keep nothing; this one stays.
  await api.call('POST', '/accept-invitation', { invitation_id: canaries.wrongInvitation });
  const second = await api.call('POST', '/invitations', { ...guest, email: 'new@example.com' }, { quoted: true });
  const join = { email: 'new@example.com', password: canaries.guestPassword, invitation_id: second.secure_id };
  expect((await api.call('POST', '/login', join, { quoted: true })).status).toBe(200);
  const change = { password: canaries.adminPassword, new_password: canaries.newPassword };
  expect((await api.call('PUT', '/password', change, { quoted: true })).status).toBeLessThan(300);
  const login = await api.call('POST', '/login', { email: EMAIL, password: canaries.newPassword }, { quoted: true });
  api.token = login.token;
  made['second token'] = login.token;
}

/** Waits for the simulated fleet, then sets a key for those that would come later. */
async function enrolled(): Promise<number> {
  await stack.waitUntil('the fleet to enrol', async () => (await api.call('GET', '/computers?limit=1')).count >= 20);
  const preferences = { registration_password: canaries.registrationKey.slice(0, 50) };
  expect((await api.call('PATCH', '/preferences', preferences, { quoted: true })).status).toBe(200);
  return (await api.call('GET', '/computers?limit=1')).count;
}

async function ended(id: number): Promise<void> {
  const isFinal = async () => {
    const { activity_status } = await api.call('GET', `/activities/${id}`);
    return ['succeeded', 'failed', 'canceled'].includes(activity_status);
  };
  await stack.waitUntil(`activity ${id}`, isFinal, { limitMs: 120_000, everyMs: 300 });
}

async function useScripts(): Promise<void> {
  const body = {
    title: 'Canary',
    code: `#!/bin/sh\n# ${canaries.scriptCode}\necho done\n`,
    attachments: [{ filename: 'data.txt', content: base64(canaries.attachment) }],
  };
  const script = await api.call('POST', '/scripts', body, { quoted: true });
  expect(script.status).toBe(201);
  const run = await api.call('POST', `/scripts/${script.id}:execute`, { query: 'NOT distribution:never' });
  await ended(run.id);
  const edit = { code: `#!/bin/sh\n# ${canaries.editedCode}\nexit 1\n` };
  await api.call('PATCH', `/scripts/${script.id}`, edit, { quoted: true });
  const profile = await api.call('POST', '/script-profiles', {
    title: 'Canaries',
    script_id: script.id,
    all_computers: true,
    tags: [],
    time_limit: 60,
    username: 'root',
    trigger: { trigger_type: 'one_time', timestamp: '2026-01-01T00:00:00Z' },
  });
  expect(profile.status).toBe(201);
  const last = async () => (await api.call('GET', `/script-profiles/${profile.id}`)).activities?.last_activity?.id;
  await stack.waitUntil('the run of the script profile', async () => (await last()) !== undefined);
  await ended(await last());
}

async function useTailoring(): Promise<void> {
  const body = {
    title: 'Canary',
    mode: 'audit',
    benchmark: 'disa_stig',
    schedule: 'FREQ=WEEKLY',
    start_date: '2090-01-01',
    all_computers: true,
    tailoring_file: `<Tailoring id="${canaries.tailoring}"/>`,
  };
  const profile = await api.call('POST', '/usg-profiles', body);
  expect(profile.status).toBe(201);
  const run = await api.call('POST', `/usg-profiles/${profile.id}:execute`);
  await ended(run.id);
  const report = await api.call('GET', `/usg-profiles/${profile.id}/report?start_date=2026-01-01`);
  if (report.id) await ended(report.id);
}

async function useRecoveryKey(): Promise<void> {
  const path = `/computers/${await computerWithKeys()}/recovery-key`;
  await ended((await api.call('POST', `${path}:generate`, {})).id);
  made['recoveryKey'] = (await api.call('GET', path, undefined, { quoted: true })).fde_recovery_key;
}

/** A computer that can make recovery keys, once it has reported so, some exchanges after its enrolment. */
async function computerWithKeys(): Promise<number> {
  let id: number | undefined;
  await stack.waitUntil('a computer to report that it has recovery keys', async () => {
    const rows = await stack.rows<{ id: number }>(
      `select min(computer_id) as id from computer_inventory where 'fde-recovery-key' = any(client_types) having count(*) > 0`,
    );
    id = rows[0]?.id;
    return id !== undefined;
  });
  return id!;
}

/** Requests that are rejected with a secret in them, and every list. */
async function sendInvalidRequests(): Promise<void> {
  const wrong: Array<[string, string, unknown]> = [
    ['POST', '/login', `{"email": "${EMAIL}", "password": "${canaries.newPassword}`],
    ['POST', '/login', { email: EMAIL, identity: EMAIL, password: canaries.newPassword }],
    ['POST', '/login', { email: EMAIL, password: [canaries.newPassword] }],
    ['PUT', '/password', { password: canaries.wrongPassword, new_password: canaries.guestPassword.slice(0, 29) }],
    ['PUT', '/password', { password: canaries.newPassword, new_password: canaries.newPassword.repeat(9) }],
    ['PATCH', '/preferences', { registration_password: canaries.registrationKey.repeat(9) }],
    ['POST', '/accept-invitation', { invitation_id: `${canaries.wrongInvitation}!` }],
    ['POST', '/scripts', { title: 'No', code: `no interpreter ${canaries.rejectedCode}` }],
    ['POST', '/scripts', { title: 'No', code: [canaries.rejectedCode] }],
    [
      'POST',
      '/scripts',
      { title: 'No', code: '#!/bin/sh', attachments: [{ filename: 'a', content: `${canaries.rejectedCode}!` }] },
    ],
    [
      'POST',
      '/usg-profiles',
      {
        title: 'No',
        mode: 'audit',
        schedule: 'FREQ=WEEKLY',
        start_date: '2090-01-01',
        tailoring_file: `<a><b ${canaries.rejectedTailoring}></a>`,
      },
    ],
    ['POST', '/usg-profiles', { title: 'No', tailoring_file: { xml: canaries.rejectedTailoring } }],
    ['POST', '/standalone-account', { email: EMAIL, name: 'No', password: canaries.wrongPassword }],
  ];
  for (const [method, path, body] of wrong) {
    expect((await api.call(method, path, body)).status, `${method} ${path}`).toBeGreaterThanOrEqual(400);
  }
  const lists =
    'activities activities/parents computers scripts script-profiles usg-profiles administrators events person';
  for (const path of lists.split(' ')) expect((await api.call('GET', `/${path}`)).status, path).toBe(200);
  // As a login does, it returns the token of the request.
  expect((await api.call('GET', '/me', undefined, { quoted: true })).token).toBe(api.token);
}
