import { isObject } from '../../platform-api/json.ts'

/** Keys that change nothing in what is read, after the name of their component if they mean something else elsewhere. */
const unused: ReadonlySet<string> = new Set([
  // Names, texts, and data of the tool in which manifests are edited.
  'type',
  'name',
  'description',
  'version',
  'check',
  'metadata',
  'schemas',
  'spec.documentation_url',
  'spec.documentationUrl',
  'spec.advanced_auth',
  'response_filters.error_message',
  // The builder copied the parameters of streams into components, of which only requesters have a path.
  'path',
  // The key of rows is chosen at the destination.
  'primary_key',
  // Speed: a connection reads one stream, and an answer is not asked for twice.
  'concurrency_level',
  'max_concurrent_async_job_count',
  'stream_groups',
  'requester.use_cache',
  // Repeated requests and the times between them are those of the connector.
  'error_handler.max_retries',
  'error_handlers.max_retries',
  'response_filters.failure_type',
  // States are those of the connector; partitions are read in full each time.
  'state_migrations',
  'incremental_sync.global_substream_cursor',
  'incremental_sync.allow_catalog_defined_cursor_field',
  'parent_stream_configs.incremental_dependency',
  // Times of two requests touch each other; of days, that is a gap (`slices.ts`).
  'incremental_sync.cursor_granularity',
  // The first page is asked for as any other.
  'pagination_strategy.inject_on_first_request',
  // A token is asked for again if it is refused.
  'authenticator.expires_in_name',
  'authenticator.refresh_token_error_status_codes',
  'authenticator.refresh_token_error_key',
  'authenticator.refresh_token_error_values',
  'authenticator.token_expiry_date',
  'authenticator.token_expiry_date_format',
  'authenticator.access_token_value',
  'authenticator.expiration_duration',
])

/**
 * Whether a key of a manifest is known to change nothing in what is read.
 * @param path its path in the manifest or in a stream, such as `retriever.requester.use_cache`
 */
export function changesNothing(path: string, value: unknown): boolean {
  const [key = '', component = ''] = path
    .replace(/\[\d+\]/g, '')
    .split('.')
    .reverse()
  if (unused.has(key) || unused.has(`${component}.${key}`)) return true
  if (key === 'schema_normalization') return value === 'None'
  // The values of the configuration are given in its newest form.
  if (key === 'config_normalization_rules') return !isObject(value) || value.transformations === undefined
  return isObject(value) && Object.keys(value).length === 0
}
