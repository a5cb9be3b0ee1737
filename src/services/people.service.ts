import { DomainError } from '../domain/errors.ts';
import { findPerson, type PersonRow } from '../persistence/repositories/people.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import type { Caller } from './ports.ts';

export interface PeopleService {
  /** The person who calls. */
  getSelf(caller: Caller): Promise<PersonRow>;
}

export function createPeopleService(deps: { db: Sql }): PeopleService {
  return {
    async getSelf(caller) {
      const person = await findPerson(deps.db, caller.personId);
      if (!person) throw new DomainError('Unauthorized', 'A valid bearer token is needed');
      return person;
    },
  };
}
