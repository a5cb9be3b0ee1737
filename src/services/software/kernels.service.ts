import { readDelivery } from '../../domain/activities/delivery.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { type HotpatchReports, kernelChoices, type SmartStatus, smartStatus } from '../../domain/software/kernel.ts';
import { type KernelAction, kernelGroupSummary, kernelOperations } from '../../domain/software/package-operations.ts';
import { namePackages } from '../../persistence/activities/package-changes.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  type KernelFacts,
  type KernelRow,
  readHotpatchReports,
  readKernelFacts,
} from '../../persistence/software/kernels.repository.ts';
import type { BaseActivity } from '../activities/activity-views.ts';
import { type ActingDeps, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

/** The kernel of one computer and what it could be changed to. @see docs/api-conventions.md#kernels */
export interface KernelListing {
  /** Null without data. */
  installed: KernelRow | null;
  /** Newest first. */
  upgrades: KernelRow[];
  /** Newest first. */
  downgrades: KernelRow[];
  /** Why nothing is listed; else empty. */
  message: string;
  smartStatus: SmartStatus;
}

/** A request to change the kernel of one computer. */
export interface KernelCommand {
  computerId: number;
  packageId: number;
  /** Restart once the change has succeeded. */
  rebootAfter: boolean;
  /** ISO 8601; null: at once. */
  deliverAfter: string | null;
  /** Where that stood in the request, for a refusal. */
  deliverAfterPath: string;
  windowMinutes: number;
  /** Activity that has to succeed on each computer first; null for none. */
  after: number | null;
  traceparent: string | null;
}

export interface KernelsService {
  /** What the computer reported about hot patches, verbatim; nulls where nothing was. @throws {DomainError} UnknownComputer */
  info(caller: Caller, computer: number): Promise<HotpatchReports>;
  /** @throws {DomainError} UnknownComputer */
  listing(caller: Caller, computer: number): Promise<KernelListing>;
  /**
   * Changes the kernel package; the restart, if wanted, waits for the success of the change and never runs without it.
   * @throws {DomainError} InvalidParameter, UnknownComputer, Forbidden, ComputerArchived; KernelPackageNotEligible when
   * the package is not among the upgrades (downgrades) of the computer
   */
  change(caller: Caller, action: KernelAction, command: KernelCommand): Promise<BaseActivity>;
}

export function createKernelsService(deps: ActingDeps): KernelsService {
  return {
    async info(caller, computer) {
      await requireVisible(deps.db, caller, [computer]);
      const reports = await readHotpatchReports(deps.db, computer);
      if (!reports) throw new DomainError('UnknownComputer', 'There is no such computer');
      return reports;
    },
    async listing(caller, computer) {
      await requireVisible(deps.db, caller, [computer]);
      return readListing(deps.db, computer);
    },
    async change(caller, action, command) {
      const { windowMinutes, computerId, packageId, rebootAfter, traceparent } = command;
      const now = deps.clock.now();
      const delivery = readDelivery(command.deliverAfter, windowMinutes, now, command.deliverAfterPath);
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const { install, remove } = await eligible(tx, action, computerId, packageId);
        const operations = kernelOperations(action, { install, remove }, rebootAfter);
        const event = `${operations[0]!.summary} on computer ${computerId}${rebootAfter ? ', then restart' : ''}`;
        const activity = await createAction(
          tx,
          caller,
          {
            ...delivery,
            computers: [computerId],
            after: command.after,
            summary: kernelGroupSummary(action),
            operations,
            parameters: { operation: 'kernel', action, kernel_package_id: packageId, reboot_after: rebootAfter },
            traceparent,
            event,
          },
          { now, settings: deps.settings },
        );
        await namePackages(tx, activity.id, [install.id, remove.id]);
        return activity;
      });
    },
  };
}

async function readListing(db: Sql, computer: number): Promise<KernelListing> {
  const facts = await readKernelFacts(db, computer);
  if (!facts) throw new DomainError('UnknownComputer', 'There is no such computer');
  const choices = kernelChoices(facts.kernels, facts.reports);
  return {
    ...choices,
    message: choices.installed ? '' : messageOf(facts),
    smartStatus: smartStatus(choices, facts.reports),
  };
}

/** Why no kernel is known. */
function messageOf({ foreignKernel, packagesReported }: KernelFacts): string {
  if (foreignKernel === 'windows') return 'A Windows computer has no kernel packages.';
  if (foreignKernel === 'container')
    return 'The computer is a container: it runs the kernel of its host and has no kernel packages.';
  return packagesReported
    ? 'The computer has not reported a kernel package of its own.'
    : 'The computer has not reported its packages yet.';
}

async function eligible(tx: Sql, action: KernelAction, computer: number, packageId: number) {
  const { installed, upgrades, downgrades } = await readListing(tx, computer);
  const install = (action === 'upgrade' ? upgrades : downgrades).find(({ id }) => id === packageId);
  if (installed && install) return { install, remove: installed };
  throw new DomainError(
    'KernelPackageNotEligible',
    `Package ${packageId} is not among the kernel ${action}s of computer ${computer}`,
    { details: [{ id: packageId, message: `is no kernel ${action} of this computer` }] },
  );
}
