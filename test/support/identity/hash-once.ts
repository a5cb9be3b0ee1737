import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Argon2 = typeof crypto.argon2;

const tags = new Map<string, Buffer>();
const { argon2 } = crypto;

/** Derives the tag of a password and a salt once per process: most logins of tests check a password hashed before. */
const argon2Once: Argon2 = (algorithm, parameters, callback) => {
  const key = JSON.stringify([algorithm, parameters]);
  const known = tags.get(key);
  if (known) {
    setImmediate(callback, null, Buffer.from(known));
    return;
  }
  argon2(algorithm, parameters, (error, tag) => {
    if (!error) tags.set(key, Buffer.from(tag));
    callback(error, tag);
  });
};

crypto.argon2 = argon2Once;
syncBuiltinESMExports();
