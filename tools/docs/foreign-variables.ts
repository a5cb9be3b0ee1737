/** An environment variable that is not a setting of the application. */
export interface ForeignVariable {
  readonly name: string;
  readonly about: string;
  /** The default; absent where there is none. */
  readonly value?: string;
  readonly default?: string;
}

/** Standard variables of OpenTelemetry that have an effect here. */
export const TRACING_VARIABLES: readonly ForeignVariable[] = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    about:
      'Base URL of an OpenTelemetry collector, such as http://localhost:4318. Nothing is recorded without this or the next one.',
  },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', about: 'Whole URL of the collector for traces, in place of the base.' },
  { name: 'OTEL_EXPORTER_OTLP_HEADERS', about: 'Headers of the export, name=value, comma-separated.' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', about: 'The same, for traces only.' },
  { name: 'OTEL_EXPORTER_OTLP_TIMEOUT', about: 'Milliseconds that one export may take.', default: '10000' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', about: 'The same, for traces only.' },
  { name: 'OTEL_EXPORTER_OTLP_COMPRESSION', about: 'gzip or none.', default: 'none' },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', about: 'The same, for traces only.' },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    about:
      'Traces are exported as JSON over HTTP whatever is named here; grpc is not supported and turns traces off with a warning.',
  },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', about: 'The same, for traces only.' },
  { name: 'OTEL_TRACES_EXPORTER', about: 'otlp, or none to record nothing.', default: 'otlp' },
  { name: 'OTEL_SDK_DISABLED', about: 'true: nothing is recorded.', default: 'false' },
  {
    name: 'OTEL_SERVICE_NAME',
    about: 'Name of the service in traces.',
    default: 'flotilla- and the role of the process',
  },
  { name: 'OTEL_RESOURCE_ATTRIBUTES', about: 'Attributes of all spans, name=value, comma-separated.' },
  {
    name: 'OTEL_TRACES_SAMPLER',
    about: 'always_on, always_off or traceidratio, each also with the prefix parentbased_.',
    default: 'parentbased_always_on',
  },
  { name: 'OTEL_TRACES_SAMPLER_ARG', about: 'Share of traces that traceidratio records, 0 to 1.', default: '1' },
  { name: 'OTEL_BSP_SCHEDULE_DELAY', about: 'Milliseconds between two exports.', default: '5000' },
  { name: 'OTEL_BSP_EXPORT_TIMEOUT', about: 'Milliseconds after which an export is given up.', default: '30000' },
  { name: 'OTEL_BSP_MAX_QUEUE_SIZE', about: 'Spans that wait for their export; more are dropped.', default: '2048' },
  { name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', about: 'Spans in one export.', default: '512' },
];

/** Variables of docker-compose.yml only. */
export const CONTAINER_VARIABLES: readonly ForeignVariable[] = [
  {
    name: 'FLOTILLA_IMAGE_TAG',
    value: 'local',
    about: 'Name of the build that runs; its image is flotilla:<name>. Change it here before deploy/upgrade.sh.',
  },
  {
    name: 'FLOTILLA_BIND_ADDRESS',
    value: '127.0.0.1',
    about: 'Address of the machine on which the proxy listens; 0.0.0.0 lets other machines in.',
  },
  {
    name: 'FLOTILLA_TLS',
    value: 'false',
    about: 'Whether the proxy speaks TLS alone, with secrets/tls/*.pem, each a certificate with its key.',
  },
  {
    name: 'FLOTILLA_API_PORT',
    value: '8080',
    about:
      'Port of the machine that leads to all APIs. FLOTILLA_PUBLIC_URL follows it unless it is set, as it must be for other machines and for TLS.',
  },
  { name: 'FLOTILLA_GATEWAY_PORT', value: '8090', about: 'Port of the machine that leads to all gateways.' },
  { name: 'FLOTILLA_CPUS', value: '2', about: 'Maximum CPUs of a container.' },
  { name: 'FLOTILLA_MEMORY', value: '2g', about: 'Maximum memory of a container.' },
  { name: 'FLOTILLA_DATABASE_MEMORY', value: '4g', about: 'Maximum memory of PostgreSQL.' },
  { name: 'FLOTILLA_APIS', value: '1', about: 'Number of APIs; see max_connections in docker-compose.yml.' },
  { name: 'FLOTILLA_GATEWAYS', value: '1', about: 'Number of gateways.' },
  { name: 'FLOTILLA_ACTIVITY_WORKERS', value: '1', about: 'Number of workers of fleet-activity.' },
  { name: 'FLOTILLA_SCHEDULE_WORKERS', value: '1', about: 'Number of workers of fleet-schedule.' },
  { name: 'FLOTILLA_REPORT_WORKERS', value: '1', about: 'Number of workers of fleet-report.' },
];

export const TEST_VARIABLES: readonly ForeignVariable[] = [
  {
    name: 'FLOTILLA_TEST_SERVER_BIN',
    about: 'A time-skipping Temporal test server.',
    default: 'the cache, else the official download, else Maven and Java',
  },
];
