import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '../../src/domain/common/durations.ts';

/** PEM files by which the parts of one stack authenticate each other. The key of the authority is not kept. */
export interface Certificates {
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** Name in the certificate of the server. */
export const SERVER_NAME = 'flotilla-temporal';

const VALID_DAYS = 3650;
const RENEW_DAYS = 90;

/**
 * Creates the certificates of a stack if they are missing or expire soon; only their owner can read them.
 * @param directory - made when absent; its parent has to exist
 */
export async function ensureCertificates(directory: string): Promise<Certificates> {
  const certificates = certificatesIn(directory);
  if (await areGood(certificates)) return certificates;
  // Created under another name first: an interrupted start must leave none of them.
  const draft = `${directory}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  for (const [name, text] of Object.entries(makeCertificates())) {
    await writeFile(join(draft, name), text, { mode: 0o600 });
  }
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
  return certificates;
}

/** Paths of the files in a directory, whether they exist or not. */
export function certificatesIn(directory: string): Certificates {
  const at = (name: string): string => join(directory, name);
  return {
    ca: at('ca.pem'),
    server: { cert: at('server.pem'), key: at('server.key') },
    client: { cert: at('client.pem'), key: at('client.key') },
  };
}

async function areGood({ ca, server, client }: Certificates): Promise<boolean> {
  try {
    const authority = new X509Certificate(await readFile(ca));
    for (const { cert, key } of [server, client]) {
      const certificate = new X509Certificate(await readFile(cert));
      await readFile(key);
      const isSigned = certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
      if (!isSigned || Date.parse(certificate.validTo) < Date.now() + RENEW_DAYS * DAY_MS) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function makeCertificates(): Record<string, string> {
  const authority = newKey();
  // A new name each time, because TLS looks issuers up by name.
  const issuer = `Flotilla ${randomBytes(6).toString('hex')}`;
  const make = (subject: string, key: KeyPair, kind: Kind) =>
    certificate({ issuer, subject, publicKey: key.publicKey, signer: authority.privateKey, kind });
  const [server, client] = [newKey(), newKey()];
  return {
    'ca.pem': make(issuer, authority, 'authority'),
    'server.pem': make(SERVER_NAME, server, 'server'),
    'server.key': privatePem(server),
    'client.pem': make('flotilla', client, 'client'),
    'client.key': privatePem(client),
  };
}

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };
type Kind = 'authority' | 'server' | 'client';

function newKey(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function privatePem({ privateKey }: KeyPair): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** An X.509 v3 certificate in PEM (RFC 5280), signed with ECDSA and SHA-256; Node itself can only read them. */
function certificate(of: {
  issuer: string;
  subject: string;
  publicKey: KeyObject;
  signer: KeyObject;
  kind: Kind;
}): string {
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const day = (offset: number): Buffer => der(UTC_TIME, Buffer.from(timeText(Date.now() + offset * DAY_MS)));
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    name(of.issuer),
    der(SEQUENCE, day(-1), day(VALID_DAYS)),
    name(of.subject),
    of.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions(of.kind))),
  );
  const signature = sign('sha256', body, of.signer);
  const whole = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OID, UTF8_STRING, UTC_TIME, SEQUENCE, SET] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x17, 0x30, 0x31,
] as const;

const oid = (hex: string): Buffer => der(OID, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302');
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const KEY_USAGE = oid('551d0f');
const EXTENDED_KEY_USAGE = oid('551d25');
const SUBJECT_ALT_NAME = oid('551d11');
const SERVER_AUTH = oid('2b06010505070301');
const CLIENT_AUTH = oid('2b06010505070302');

function extensions(kind: Kind): Buffer[] {
  const critical = der(BOOLEAN, Buffer.from([0xff]));
  if (kind === 'authority') {
    return [
      extension(BASIC_CONSTRAINTS, der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff]))), critical),
      extension(KEY_USAGE, der(BIT_STRING, Buffer.from([1, 0x06])), critical),
    ];
  }
  // The server's parts use its certificate as clients of each other too.
  const usages = kind === 'server' ? [SERVER_AUTH, CLIENT_AUTH] : [CLIENT_AUTH];
  const names = [
    der(0x82, Buffer.from(SERVER_NAME)),
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  ];
  return [
    extension(KEY_USAGE, der(BIT_STRING, Buffer.from([7, 0x80])), critical),
    extension(EXTENDED_KEY_USAGE, der(SEQUENCE, ...usages)),
    ...(kind === 'server' ? [extension(SUBJECT_ALT_NAME, der(SEQUENCE, ...names))] : []),
  ];
}

function extension(id: Buffer, value: Buffer, ...critical: Buffer[]): Buffer {
  return der(SEQUENCE, id, ...critical, der(OCTET_STRING, value));
}

function name(common: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(common)))));
}

function timeText(at: number): string {
  return `${new Date(at)
    .toISOString()
    .replace(/[-:T]|\.\d+Z$/g, '')
    .slice(2)}Z`;
}

/** One value in the distinguished encoding of ASN.1. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
