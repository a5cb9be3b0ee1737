import { Migration } from '@mikro-orm/migrations';

/** One index for each family of selectors. Lengths of reported texts are not bounded, so equality goes by hash. */
export class Migration20261121051100QueryIndexes extends Migration {
  override up(): void {
    for (const statement of INDEXES) this.addSql(statement);
  }
}

const INDEXES = [
  // A trusted extension: whoever may create objects in the database may create it.
  'create extension if not exists pg_trgm',
  `create index computer_words on computer using gin (lower(hostname) gin_trgm_ops, lower(title) gin_trgm_ops)`,
  `create index computer_hostname on computer using hash (lower(hostname))`,
  `create index computer_title on computer using hash (lower(title))`,
  `create index computer_annotations on computer using gin (annotations jsonb_ops)`,
  `create index computer_distribution on computer using hash (lower(distribution))`,
  `create index computer_code_name on computer using hash (lower(distribution_info->>'code_name'))`,
  `create index computer_reboot on computer (account_id, id) where reboot_required`,
  // Without the separators: trigrams end at them, and parts of an address would be found in every address.
  `create index computer_network_ip on computer_network using gin (translate(lower(ip_address), '.:', '') gin_trgm_ops)`,
  `create index computer_network_mac on computer_network using gin (translate(lower(mac_address), '.:', '') gin_trgm_ops)`,
];
