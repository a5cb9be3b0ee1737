import { Migration } from '@mikro-orm/migrations';

/** Finds the generations of a computer's recovery key, and keys that are sealed with an old key, without a search. */
export class Migration20261121061000RecoveryKeys extends Migration {
  override up(): void {
    this.addSql(
      `create index activity_recovery_key on activity (computer_id, id) where type = 'GenerateFDERecoveryKeyRequest'`,
    );
    this.addSql('create index computer_recovery_key_key on computer_recovery_key (key_id)');
  }
}
