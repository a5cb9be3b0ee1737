import { roundVersion } from '../../domain/software/debian-version.ts';
import type { HotpatchReports } from '../../domain/software/kernel.ts';
import { refusedField } from '../../services/common/fields.ts';
import type { KernelCommand, KernelListing } from '../../services/software/kernels.service.ts';
import type { KernelView } from '../../services/setup/views.ts';
import type { RequestContext } from '../http/handler.ts';
import { type DeliveryFields, readWindow } from '../activities/delivery.wire.ts';

/** The reports, under the names of the API and otherwise untouched. */
export function wireHotpatchInfo({ hotpatchInfo, serviceInfo, rebootRequiredInfo }: HotpatchReports) {
  return {
    hotpatch_info: hotpatchInfo,
    distro_pro_hotpatch_service_info: serviceInfo,
    distro_pro_reboot_required_info: rebootRequiredInfo,
  };
}

export function wireKernelListing({ installed, upgrades, downgrades, message, smartStatus }: KernelListing) {
  return {
    installed: installed && wireKernel(installed),
    upgrades: upgrades.map(wireKernel),
    downgrades: downgrades.map(wireKernel),
    message,
    smart_status: smartStatus,
  };
}

function wireKernel({ id, name, version, fixes }: KernelView) {
  return { id, name, version, version_rounded: roundVersion(version), fixes };
}

/** Parameters of a kernel change, as the document admits them in the body and in the query. */
interface KernelParameters extends DeliveryFields {
  kernel_package_id?: number | null;
  reboot_after?: boolean | null;
}

/**
 * What a request asks for; what the body has wins over the query, null counts as absent.
 *
 * @throws {DomainError} InvalidParameter when no package is named, InvalidParameterCombination
 */
export function readKernelCommand({ params, query, body }: RequestContext, traceparent: string | null): KernelCommand {
  const [first, second] = [(body ?? {}) as KernelParameters, query as KernelParameters];
  const packageId = first.kernel_package_id ?? second.kernel_package_id;
  if (packageId == null) throw refusedField('body.kernel_package_id', 'is required, here or in the query');
  return {
    computerId: params['computer_id'] as number,
    packageId,
    rebootAfter: first.reboot_after ?? second.reboot_after ?? false,
    deliverAfter: first.deliver_after ?? second.deliver_after ?? null,
    deliverAfterPath: first.deliver_after == null ? 'query.deliver_after' : 'body.deliver_after',
    windowMinutes: readWindow(first, 'body') ?? readWindow(second, 'query') ?? 0,
    after: first.after ?? second.after ?? null,
    traceparent,
  };
}
