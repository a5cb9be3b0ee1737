import type { Database } from '../../../src/persistence/database/sql.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { aGroup, anAccount, childrenOf, ONE_BATCH, TestClock } from './activity-rows.ts';

/** Batches on a database of their own, on a clock that only the test moves. */
export class EngineWorld {
  readonly db: Database;
  clock = new TestClock();
  engine: Engine;
  readonly #database: TestDatabase;

  private constructor(database: TestDatabase) {
    this.#database = database;
    this.db = database.persistence.db;
    this.engine = this.engineWith(30);
  }

  static async create(): Promise<EngineWorld> {
    return new EngineWorld(await createTestDatabase());
  }

  close(): Promise<void> {
    return this.#database.drop();
  }

  /** To be called before each test: the clock stands where it began. */
  begin(): void {
    this.clock = new TestClock();
    this.engine = this.engineWith(30);
  }

  engineWith(expiryDays: number, db = this.db): Engine {
    return createEngine({ db, clock: this.clock, settings: { expiryDays } });
  }

  /** A group whose operations are all in one batch, not opened yet. */
  async oneBatch(plan: Parameters<typeof aGroup>[2] = {}, options: Parameters<typeof anAccount>[1] = {}) {
    const account = await anAccount(this.db, options);
    const group = await aGroup(this.db, account, { now: this.clock.now(), settings: ONE_BATCH, ...plan });
    const children = await childrenOf(this.db, group);
    return { account, group, lane: children[0]!.lane_id, ids: children.map(({ id }) => id) };
  }

  /** How the messages of a group's operations stand, in order. */
  async messages(group: number): Promise<Array<string | null>> {
    return (await childrenOf(this.db, group)).map(({ message }) => message);
  }
}
