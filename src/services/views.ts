export type { AccountRow as AccountView } from '../persistence/repositories/accounts.repository.ts';
export type { PersonRow as PersonView } from '../persistence/repositories/people.repository.ts';
