import { getHeapStatistics } from 'node:v8';
import { BodyBudget, type BudgetPart, type HeldBody } from '../../../process/body-budget.ts';
import { senderOf } from '../../../services/common/token-buckets.ts';

const MIB = 1024 * 1024;
/** Room for the largest body of any route, packed or in the smallest packets, beside what is left to small ones. */
const ONE_BODY_BYTES = 24 * MIB;
/**
 * Bytes of the bodies that one process holds. While a body is parsed its text and its values take up to four times as
 * much on the heap, so in a small container there are fewer.
 */
const MOST_BYTES = Math.max(2 * ONE_BODY_BYTES, Math.min(128 * MIB, getHeapStatistics().heap_size_limit / 8));
/** One address leaves the most to others, who may be fewer than its connections. */
const SENDER_SHARE = Math.max(1 / 4, ONE_BODY_BYTES / MOST_BYTES);
/** Whoever comes without a token, from as many addresses as there are, leaves this to those with one. */
const STRANGERS: BudgetPart = { name: 'strangers', share: 1 / 2 };

/** The budget of one API process, for {@link holdBody}. */
export function createBodyBudget(): BodyBudget {
  return new BodyBudget(MOST_BYTES);
}

/** Begins to count a body against the budget and the parts that its sender has of it. */
export function holdBody(budget: BodyBudget, from: { address: string; isKnown: boolean }): HeldBody {
  const sender = { name: `sender ${senderOf(from.address)}`, share: SENDER_SHARE };
  return budget.open(from.isKnown ? [sender] : [sender, STRANGERS]);
}
