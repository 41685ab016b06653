/**
 * Events in the form of the IAB Tech Lab's Event & Conversion API, ECAPI 1.0: its fields, and how a destination states which of
 * its columns they fill. One mapping for all destinations of conversions follows from it.
 */

/** How ECAPI writes the values of a field. `digest`: SHA-256. `several`: a list, of which destinations get the first value. */
type EcapiForm = { readonly digest?: true; readonly several?: true }
const plain: EcapiForm = {}
const digest: EcapiForm = { digest: true }
const several: EcapiForm = { several: true }

const named = <Name extends string, Form>(names: readonly Name[], form: Form) =>
  Object.fromEntries(names.map((name) => [name, form])) as Record<Name, Form>

/** The fields by their paths. An address is the first of the list `user_data.address`. */
export const ecapiFields = {
  ...named(
    [
      'data_set_id',
      'id',
      'timestamp',
      'event_type',
      'custom_event',
      'value',
      'currency_code',
      'source',
      'user_data.gpp_string',
      'user_data.mmt_only',
      'user_data.click_id',
      'user_data.impression_id',
      'user_data.event_ip_address',
      'user_data.event_user_agent',
      'user_data.ifa',
      'user_data.landing_ip_address',
      'user_data.landing_user_agent',
      'user_data.utcoffset',
      'user_data.age_range',
      'user_data.uids',
      'user_data.gpp_sid',
      'user_data.address.city',
      'user_data.address.state',
      'user_data.address.country_code',
      'user_data.address.address_type',
      'properties.transaction_id',
      'properties.items',
      'properties.page_url',
      'properties.referrer',
      'properties.search_term',
      'properties.ad_source',
      'properties.ad_platform',
      'properties.ad_format',
      'properties.ad_unit_name',
      'properties.shipping',
      'properties.tax',
      'properties.shipping_tier',
      'properties.lead_source',
      'properties.lead_status',
      'properties.lead_reason',
      'properties.login_method',
      'properties.group_id',
      'properties.promotion_id',
      'properties.promotion_name',
      'properties.creative_name',
      'properties.creative_slot',
      'properties.virtual_currency_name',
      'properties.virtual_item_name',
      'properties.character',
      'properties.character_level',
      'properties.post_score',
      'properties.achievement_id',
      'properties.availability',
      'properties.body_style',
      'properties.condition_of_vehicle',
      'properties.arrival_date',
      'properties.departure_date',
      'properties.destination_airport',
      'properties.destination_ids',
      'properties.drivetrain',
      'properties.exterior_color',
      'properties.fuel_type',
      'properties.lease_end_date',
      'properties.lease_start_date',
      'properties.listing_type',
      'properties.make',
      'properties.model',
      'properties.transmission',
      'properties.vin',
    ],
    plain,
  ),
  ...named(
    [
      'user_data.customer_identifier',
      'user_data.gender',
      'user_data.address.first_name',
      'user_data.address.last_name',
      'user_data.address.street',
      'user_data.address.postal_code',
    ],
    digest,
  ),
  ...named(['user_data.customer_segments', 'properties.coupon', 'properties.payment_type'], several),
  ...named(['user_data.email_address', 'user_data.phone_numbers'], { ...digest, ...several }),
}
export type EcapiField = keyof typeof ecapiFields
export const ecapiFormOf = (field: EcapiField): EcapiForm => ecapiFields[field]

/** Values of `event_type`. A `custom` event has its name in `custom_event`. */
export const ecapiEventTypes = [
  ...['purchase', 'page_view', 'ad_impression', 'add_to_wishlist', 'add_to_cart', 'viewed_cart', 'viewed_item'],
  ...['begin_checkout', 'add_payment_info', 'remove_from_cart', 'refund', 'generate_lead', 'qualify_lead'],
  ...['close_convert_lead', 'disqualify_lead', 'close_unconvert_lead', 'sign_up', 'search', 'unlock_achievement'],
  ...['install', 'customize_product', 'contact', 'donate', 'find_location', 'schedule', 'start_trial', 'subscribe'],
  ...['custom', 'add_shipping_info', 'share', 'select_content', 'select_item', 'select_promotion', 'view_item_list'],
  ...['view_promotion', 'view_search_results', 'spend_virtual_currency', 'earn_virtual_currency', 'working_lead'],
  ...['login', 'join_group', 'level_up', 'post_score', 'tutorial_begin', 'tutorial_complete'],
] as const
export type EcapiEventType = (typeof ecapiEventTypes)[number]

/** Values of `source`. */
export const ecapiSources = [
  ...['email', 'website', 'app', 'phone_call', 'chat', 'physical_store', 'system_generated', 'business_messaging'],
  'other',
] as const
export type EcapiSource = (typeof ecapiSources)[number]

/** Keys of an item of `properties.items`. */
export const ecapiItemKeys = [
  ...['id', 'name', 'price', 'discount', 'quantity', 'brand', 'affiliation', 'category', 'cattax', 'item_coupon'],
  ...['item_list_id', 'item_list_name', 'item_item_variant', 'item_location_id', 'ext'],
] as const
const itemKeys: ReadonlySet<string> = new Set(ecapiItemKeys)
export const isEcapiItemKey = (key: string): boolean => itemKeys.has(key)

/** How a column of a destination is filled from events in ECAPI's form. */
export type EcapiColumn =
  | EcapiField
  | {
      readonly from: 'event_type'
      readonly values: Partial<Readonly<Record<EcapiEventType, string>>>
      /** The value for other types. Absent: their own name, and of custom events `custom_event`. `null`: none. */
      readonly others?: string | null
    }
  | {
      readonly from: 'source'
      readonly values: Partial<Readonly<Record<EcapiSource, string>>>
      /** The value for other places. Absent: rows with them are rejected. `null`: none. */
      readonly others?: string | null
    }
  /** The same value for all rows, if the source has the field. */
  | { readonly from: EcapiField; readonly fixed: string }

/** How a destination of conversions receives events in ECAPI's form. */
export type Ecapi = {
  /** By the columns of the destination. Fields of ECAPI that are not named are not sent. */
  readonly columns: Readonly<Record<string, EcapiColumn>>
  /** The loss of a field, in a sentence, if the usual sentence does not say it. Also of a field that is sent in part. */
  readonly losses?: Partial<Readonly<Record<EcapiField, string>>>
}

/** The field of ECAPI that fills a column. */
export const ecapiFieldOf = (column: EcapiColumn): EcapiField => (typeof column === 'string' ? column : column.from)
