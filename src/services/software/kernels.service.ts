import { readDelivery } from '../../domain/activities/delivery.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { kernelChoices, type SmartStatus, smartStatus } from '../../domain/software/kernel.ts';
import { type KernelAction, kernelGroupSummary, kernelOperations } from '../../domain/software/package-operations.ts';
import { namePackages } from '../../persistence/activities/package-changes.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import {
  type KernelFacts,
  type KernelRow,
  readHotpatchReports,
  readKernelFacts,
} from '../../persistence/software/kernels.sql.ts';
import { type ActingDeps, type ActionRequest, createAction } from '../activities/computer-actions.ts';
import { requireTargets, requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

/** The kernel of one computer and the versions it can be changed to. @see docs/api-conventions.md#kernels */
export interface KernelListing {
  installed: KernelRow | null;
  /** Newest first. */
  upgrades: KernelRow[];
  downgrades: KernelRow[];
  message: string;
  smartStatus: SmartStatus;
}

export interface KernelCommand extends ActionRequest {
  computerId: number;
  packageId: number;
  rebootAfter: boolean;
  deliverAfterPath: string;
}

export function createKernelsService(deps: ActingDeps) {
  return {
    /** Hot patches as reported, verbatim; null without a report. @throws {DomainError} UnknownComputer */
    async info(caller: Caller, computer: number) {
      await requireVisible(deps.db, caller, [computer]);
      const reports = await readHotpatchReports(deps.db, computer);
      if (!reports) throw new DomainError('UnknownComputer', 'There is no such computer');
      return reports;
    },
    /** @throws {DomainError} UnknownComputer */
    async listing(caller: Caller, computer: number) {
      await requireVisible(deps.db, caller, [computer]);
      return readListing(deps.db, computer);
    },
    /** @throws InvalidParameter, UnknownComputer, Forbidden, ComputerArchived, KernelPackageNotEligible */
    async change(caller: Caller, action: KernelAction, command: KernelCommand) {
      const { windowMinutes, computerId, packageId, rebootAfter, after, traceparent } = command;
      const now = deps.clock.now();
      const delivery = readDelivery(command.deliverAfter, windowMinutes, now, command.deliverAfterPath);
      return deps.db.transaction(async (tx) => {
        await requireTargets(tx, caller, [computerId], 'ManageComputer');
        const { install, remove } = await eligible(tx, action, computerId, packageId);
        const operations = kernelOperations(action, { install, remove }, rebootAfter);
        const plan = {
          ...delivery,
          computers: [computerId],
          after,
          summary: kernelGroupSummary(action),
          operations,
          parameters: { operation: 'kernel', action, kernel_package_id: packageId, reboot_after: rebootAfter },
          traceparent,
          event: `${operations[0]!.summary} on computer ${computerId}${rebootAfter ? ', then restart' : ''}`,
        };
        const activity = await createAction(tx, caller, plan, { now, settings: deps.settings });
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
    { details: [{ id: packageId, message: `is not a kernel ${action} of this computer` }] },
  );
}
