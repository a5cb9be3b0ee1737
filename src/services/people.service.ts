import { DomainError } from '../domain/errors.ts';
import { findPerson, type PersonRow } from '../persistence/repositories/people.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import type { Caller } from './ports.ts';

export interface PeopleService {
  /** The person who calls, as they were when their rights were last read: at most seconds ago. */
  getSelf(caller: Caller): Promise<PersonRow>;
}

export function createPeopleService(deps: { db: Sql }): PeopleService {
  // A caller object lives as long as its rights count as fresh.
  const known = new WeakMap<Caller, PersonRow>();
  return {
    async getSelf(caller) {
      const person = known.get(caller) ?? (await findPerson(deps.db, caller.personId));
      if (!person) throw new DomainError('Unauthorized', 'A valid bearer token is needed');
      known.set(caller, person);
      return person;
    },
  };
}
