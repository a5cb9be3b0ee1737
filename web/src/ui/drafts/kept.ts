import { createStore, del, delMany, get, keys, set } from 'idb-keyval';

const DAY_MS = 24 * 60 * 60_000;
const store = createStore('flotilla', 'kept');
let last: Promise<unknown> = Promise.resolve();

/**
 * Keeps a value that is too large for the session's storage, under a name of this tab, for a day. A browser that has no database,
 * or no room in it, keeps nothing, and a reload loses the value.
 */
export function keep(name: string, value: unknown): Promise<void> {
  return inOrder(async () => {
    // A reload in between must leave one of both.
    const former = sessionStorage.getItem(name);
    const key = `${Date.now()}.${Math.random()}`;
    await set(key, value, store).catch(async (error: unknown) => {
      // An older value would be wrong.
      await remove(name);
      throw error;
    });
    sessionStorage.setItem(name, key);
    if (former !== null) await del(former, store);
  });
}

/** What this tab has kept under a name. */
export function readKept<T>(name: string): Promise<T | undefined> {
  return inOrder(async () => {
    const key = sessionStorage.getItem(name);
    return key === null ? undefined : await get<T>(key, store);
  });
}

/** Deletes what this tab has kept under a name. */
export function dropKept(name: string): Promise<void> {
  return inOrder(() => remove(name));
}

/** Deletes what tabs have kept that were closed since. */
export function dropOldKept(): Promise<void> {
  return inOrder(async () => {
    const all = await keys<string>(store);
    await delMany(
      all.filter((key) => isOld(key, Date.now())),
      store,
    );
  });
}

/** Deletes all drafts of this tab and what it has kept: the next person to sign in may be another one. */
export function dropDrafts(): Promise<void> {
  const names = new Set<unknown>(Object.values(sessionStorage));
  sessionStorage.clear();
  return inOrder(async () => {
    const all = await keys<string>(store);
    await delMany(
      all.filter((key) => names.has(key)),
      store,
    );
  });
}

/** Whether something was kept for more than a day, by its key. */
export function isOld(key: string, now: number): boolean {
  return now - Number.parseInt(key, 10) > DAY_MS;
}

async function remove(name: string): Promise<void> {
  const key = sessionStorage.getItem(name);
  if (key === null) return;
  sessionStorage.removeItem(name);
  await del(key, store);
}

/** One after the other, so that an earlier write does not restore what was deleted. */
function inOrder<T>(task: () => Promise<T>): Promise<T | undefined> {
  const result = last.then(task).catch(() => undefined);
  last = result;
  return result;
}
