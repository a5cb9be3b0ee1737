export const SANITIZE_REQUEST = 'SanitizeComputerRequest';

/** In seconds; erasing a key slot takes a few. */
const TIME_LIMIT = 600;

// Encrypted volumes are unreadable without their key slots. Fails on computers without encrypted volumes.
const ERASE_KEYS = `set -e
volumes=$(lsblk --noheadings --raw --paths --output NAME,FSTYPE | awk '$2 == "crypto_LUKS" { print $1 }' | sort -u)
for volume in $volumes
do
cryptsetup luksErase --batch-mode "$volume"
done
test -n "$volumes"
`;

/** Makes an agent erase the keys of all encrypted volumes. @see docs/agent-protocol.md#scripts */
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
