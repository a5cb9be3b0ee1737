import { Migration } from '@mikro-orm/migrations';

/** Finds held messages, which are few or none, without looking through those that wait or are on their way. */
export class Migration20261121004100HeldMessages extends Migration {
  override up(): void {
    this.addSql(`create index agent_message_held on agent_message (computer_id, activity_id) where state = 'held'`);
  }
}
