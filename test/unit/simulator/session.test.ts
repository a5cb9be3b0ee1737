import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BObject, type BValue, encode } from '../../../src/protocol/bpickle.ts';
import { Session, type SessionHost, type SessionRecord } from '../../../tools/simulator/agent/session.ts';
import { typeList } from '../../../tools/simulator/agent/type-list.ts';
import { fromTypedJson } from '../../support/agents/raw-agent.ts';

interface Recorded {
  id: string;
  request: { headers: Record<string, string>; body_hex: string; body: BObject };
  response: { status: number; body: BObject };
}

const recording = readRecording();
const REGISTER = ['register'];
const ALL = messagesOf('04', 'response')[0]!['types'] as string[];

function readRecording(): ReadonlyMap<string, Recorded> {
  const path = new URL('../../fixtures/agent-exchanges.json', import.meta.url);
  const { exchanges } = JSON.parse(readFileSync(path, 'utf8')) as { exchanges: (Recorded & { request: object })[] };
  const read = (side: { body?: unknown } | undefined): BObject => fromTypedJson(side?.body ?? null) as BObject;
  return new Map(
    exchanges.map((entry) => [
      entry.id,
      {
        ...entry,
        request: { ...entry.request, body: read(entry.request) },
        response: { ...entry.response, body: read(entry.response) },
      },
    ]),
  );
}

function recorded(id: string): Recorded {
  return recording.get(id)!;
}

function messagesOf(id: string, side: 'request' | 'response'): BObject[] {
  return recorded(id)[side].body['messages'] as BObject[];
}

/** A host that behaves like the recorded agent and records its calls. */
function aHost(registerIn = '02') {
  const calls: string[] = [];
  const [registered] = messagesOf(registerIn, 'request');
  const { type: _type, api: _api, timestamp, clone_secure_id: _clone, ...registration } = registered!;
  const clientTypes = typeList(recorded('01').request.body['client-accepted-types'] as string[]);
  const host: SessionHost = {
    registration: () => registration as BObject,
    clientTypes: () => clientTypes,
    nowSeconds: () => timestamp as number,
    typesAccepted: (added) => calls.push(`accepted ${added.length}`),
    identityChanged: () => calls.push('identity'),
    serverChanged: () => calls.push('server'),
    resynchronize: (id, scopes) => calls.push(`resynchronize ${id} ${scopes}`),
    handlePackageIds: () => calls.push('package-ids'),
    intervals: () => calls.push('intervals'),
    operation: (message) => calls.push(`operation ${message['operation-id']}`) > 0,
    registrationRejected: (reason) => calls.push(`rejected ${reason}`),
    violation: (text) => calls.push(`violation ${text}`),
  };
  return { host, calls };
}

/** A session that has just sent a recorded request. */
function sessionAt(id: string, types: readonly string[], registerIn?: string) {
  const { host, calls } = aHost(registerIn);
  const { headers, body } = recorded(id).request;
  const record: SessionRecord = {
    id: headers['X-Computer-ID'] ?? null,
    insecure: 1,
    clone: null,
    seq: body['sequence'] as number,
    next: body['next-expected-sequence'] as number,
    types,
    api: headers['X-Message-API'] as '3.3',
    uuid: null,
  };
  const session = new Session(host, record);
  queue(session, id);
  return { session, calls, sent: session.prepare().sent };
}

/** A session that has sent a recorded request and keeps the acknowledged message before it. */
function withKeptBatch(id: string, kept: BObject): Session {
  const { record } = sessionAt(id, ALL).session;
  const session = new Session(aHost().host, { ...record, seq: record.seq - 1 });
  session.requeue(kept);
  session.prepare();
  const acknowledged = { ...(recordedResponse('30') as BObject), messages: [], 'next-expected-sequence': record.seq };
  session.receive(acknowledged, 1);
  queue(session, id);
  session.prepare();
  return session;
}

function queue(session: Session, id: string): void {
  for (const message of messagesOf(id, 'request').slice(session.queue.length)) {
    if (message['type'] !== 'register') session.requeue(message);
  }
}

function recordedResponse(id: string): BValue {
  return recorded(id).response.body;
}

/** Checks that the next payload and its headers equal the recorded ones, byte for byte. */
function expectRequest(session: Session, id: string): void {
  queue(session, id);
  const { headers, payload } = session.prepare();
  const { 'User-Agent': _, ...wanted } = recorded(id).request.headers;
  expect(payload).toEqual(recorded(id).request.body);
  expect(encode(payload).equals(Buffer.from(recorded(id).request.body_hex, 'hex'))).toBe(true);
  expect(headers).toEqual(wanted);
}

describe('the recorded agent', () => {
  it('starts without identity and types, with everything it can do', () => {
    expectRequest(new Session(aHost().host), '01');
  });

  it('registers, takes its identity and counts on from both', () => {
    const { host, calls } = aHost();
    const session = new Session(host);
    session.prepare();
    expect(session.receive(recordedResponse('01'), 0)).toBe('at once');
    expectRequest(session, '02');
    session.receive(recordedResponse('02'), 1);
    expect(calls).toEqual(['accepted 1', 'identity']);
    expectRequest(session, '04');
    session.receive(recordedResponse('04'), 0);
    expect(calls.slice(2)).toEqual([`accepted ${ALL.length}`, 'intervals']);
    expect(session.isApproved).toBe(true);
    expectRequest(session, '06');
  });

  it.each([
    ['06', '07'],
    ['07', '08'],
    ['26', '27', 'lost'],
    ['29', '30', 'lost'],
  ])('follows payload %s by %s', (first, second, fate = 'received') => {
    const { session, sent } = sessionAt(first, ALL);
    // The list is known since an earlier response; a token never survives a failure.
    session.receive(
      { ...(recordedResponse('04') as BObject), messages: [], 'next-expected-sequence': session.queue.sequence },
      0,
    );
    session.prepare();
    if (fate === 'received') session.receive(recordedResponse(first), sent);
    expectRequest(session, second);
  });

  it('hands operations over and requests the message after the last one', () => {
    const { session, calls, sent } = sessionAt('14', ALL);
    session.receive(recordedResponse('14'), sent);
    expect(calls).toEqual(['operation 111', 'operation 112', 'operation 113']);
    expect(session.prepare().payload['next-expected-sequence']).toBe(20);
  });

  it('steps back within the batch it kept', () => {
    const session = withKeptBatch('31', messagesOf('32', 'request')[0]!);
    expect(session.receive(recordedResponse('31'), 1)).toBe('urgent');
    expectRequest(session, '32');
  });

  it('starts over with all it holds when the server wants what it no longer has', () => {
    const session = withKeptBatch('33', messagesOf('34', 'request')[0]!);
    session.receive(recordedResponse('33'), 1);
    expectRequest(session, '34');
  });

  it('starts over when the server is further ahead than it has messages', () => {
    const { session, calls, sent } = sessionAt('33', ALL);
    session.receive({ ...(recordedResponse('33') as BObject), messages: [], 'next-expected-sequence': 1000 }, sent);
    expect(calls).toEqual(['resynchronize null null']);
    expect(session.prepare().payload).toMatchObject({ sequence: 1000, 'total-messages': 1 });
  });

  it('responds to a request to resynchronize', () => {
    const { session, calls, sent } = sessionAt('35', ALL);
    session.receive(recordedResponse('35'), sent);
    expect(calls).toEqual(['resynchronize 126 package,computer']);
    expectRequest(session, '36');
  });

  it('registers again at once after unknown-id, with its counters', () => {
    const { session, sent } = sessionAt('37', ALL, '38');
    expect(session.receive(recordedResponse('37'), sent)).toBe('at once');
    session.queue.sequence = 26;
    const { headers, payload } = session.prepare();
    expect(headers).not.toHaveProperty('X-Computer-ID');
    expect(headers['X-Exchange-Token']).toBe(recorded('38').request.headers['X-Exchange-Token']);
    expect(payload['messages']).toEqual(messagesOf('38', 'request'));
    expect(payload).toMatchObject({ sequence: 26, 'next-expected-sequence': 35, 'total-messages': 1 });
  });

  it('reports another server once', () => {
    const { session, calls } = sessionAt('33', ALL);
    const respondTo = (uuid: string) =>
      session.receive({ 'server-uuid': Buffer.from(uuid), 'server-api': Buffer.from('3.3'), messages: [] }, 0);
    for (const uuid of ['a', 'a', 'b', 'b']) respondTo(uuid);
    expect(calls).toEqual(['server']);
  });

  it('tries again after a rejection', () => {
    const { session, calls, sent } = sessionAt('40', REGISTER, '40');
    expect(session.receive(recordedResponse('40'), sent)).toBe('retry');
    expect(calls).toEqual(['rejected unknown-account']);
  });

  it('stays silent while pending and speaks once approved', () => {
    const { session } = sessionAt('42', REGISTER);
    expect(session.receive(recordedResponse('42'), 0)).toBe('regular');
    expectRequest(session, '43');
    session.receive(recordedResponse('43'), 0);
    expect(session.isApproved).toBe(true);
  });

  it('names the identity it was copied from when it registers again', () => {
    const { session, sent } = sessionAt('44', ALL, '45');
    session.receive(recordedResponse('44'), sent);
    session.receive({ ...(recordedResponse('01') as BObject) }, 0);
    const [register] = session.prepare().payload['messages'] as BObject[];
    expect(register!['clone_secure_id']).toBe('secure-0005');
  });
});

describe('what no agent survives or accepts', () => {
  const frame = { 'server-uuid': Buffer.from('u'), 'server-api': Buffer.from('3.3') };

  it.each([
    ['no dict', []],
    ['no messages', frame],
    ['no server-uuid', { 'server-api': Buffer.from('3.3'), messages: [] }],
  ])('fails the exchange on a response with %s', (_, broken) => {
    const { host } = aHost();
    expect(() => new Session(host).receive(broken as BValue, 0)).toThrow('the response');
  });

  it('is bricked by types that are no text', () => {
    const { host, calls } = aHost();
    const session = new Session(host);
    session.receive({ ...frame, messages: [{ type: 'accepted-types', types: [Buffer.from('register')] }] }, 0);
    expect(session.bricked).toBe(true);
    expect(calls[0]).toMatch(/^violation accepted-types/);
  });

  it.each([
    ['next-exchange-token', { ...frame, messages: [], 'next-exchange-token': 'text' }],
    ['client-accepted-types-hash', { ...frame, messages: [], 'client-accepted-types-hash': 'text' }],
    ['set-id.id', { ...frame, messages: [{ type: 'set-id', id: 'text', 'insecure-id': 1 }] }],
    ['an operation', { ...frame, messages: [{ type: 'shutdown', 'operation-id': 1 }] }],
  ])('notes a wrong %s', (what, wrong) => {
    const { host, calls } = aHost();
    new Session(host).receive(wrong as BValue, 0);
    expect(calls[0]).toContain(`violation ${what}`);
  });

  it('requests again an operation it did not get to, and for what follows it', () => {
    const { host } = aHost();
    const session = new Session(
      { ...host, operation: (message) => message['operation-id'] !== 2 },
      {
        id: 'x',
        insecure: 1,
        clone: null,
        seq: 0,
        next: 10,
        types: ALL,
        api: '3.3',
        uuid: 'u',
      },
    );
    const operations = [1, 2, 3].map((id) => ({ type: 'shutdown', 'operation-id': id, reboot: true }));
    session.receive({ ...frame, messages: operations }, 0);
    expect(session.prepare().payload['next-expected-sequence']).toBe(11);
  });
});
