/** Type of the operation that makes the disks of a computer unreadable. */
export const SANITIZE_REQUEST = 'SanitizeComputerRequest';

/** Seconds; erasing a key slot takes a few. */
const TIME_LIMIT = 600;

// Without their key slots encrypted volumes cannot be read by anybody. Fails where there is none.
const ERASE_KEYS = `set -e
volumes=$(lsblk --noheadings --raw --paths --output NAME,FSTYPE | awk '$2 == "crypto_LUKS" { print $1 }' | sort -u)
for volume in $volumes
do
cryptsetup luksErase --batch-mode "$volume"
done
test -n "$volumes"
`;

/** The message that makes an agent erase the keys of every encrypted volume of its machine. @see docs/agent-protocol.md#scripts */
export function sanitizeMessage(): { type: string; fields: Readonly<Record<string, unknown>> } {
  return {
    type: 'execute-script',
    fields: {
      username: 'root',
      interpreter: '/bin/sh',
      code: ERASE_KEYS,
      'time-limit': TIME_LIMIT,
      attachments: {},
      env: {},
    },
  };
}
