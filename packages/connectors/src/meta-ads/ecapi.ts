import type { Ecapi } from '@penstock/connector'
import { usualEcapiColumns } from '../kit/ecapi.ts'

/** How Meta's Conversions API receives events of ECAPI. Meta names the same places. */
export const metaEcapi: Ecapi = {
  columns: {
    event_name: {
      from: 'event_type',
      values: {
        purchase: 'Purchase',
        page_view: 'PageView',
        add_to_wishlist: 'AddToWishlist',
        add_to_cart: 'AddToCart',
        viewed_item: 'ViewContent',
        begin_checkout: 'InitiateCheckout',
        add_payment_info: 'AddPaymentInfo',
        generate_lead: 'Lead',
        sign_up: 'CompleteRegistration',
        search: 'Search',
        customize_product: 'CustomizeProduct',
        contact: 'Contact',
        donate: 'Donate',
        find_location: 'FindLocation',
        schedule: 'Schedule',
        start_trial: 'StartTrial',
        subscribe: 'Subscribe',
      },
    },
    event_time: 'timestamp',
    action_source: 'source',
    ...usualEcapiColumns,
    click_id: 'user_data.click_id',
    madid: 'user_data.ifa',
    value: 'value',
    currency: 'currency_code',
    order_id: 'properties.transaction_id',
    contents: 'properties.items',
    search_string: 'properties.search_term',
    event_source_url: 'properties.page_url',
    referrer_url: 'properties.referrer',
    opt_out: 'user_data.mmt_only',
  },
}

/** The same for a dataset of several places. A connection for an app names its operating system, and one for a dataset does not. */
export const metaDatasetEcapi: Ecapi = {
  ...metaEcapi,
  losses: {
    source: 'Meta asks whether an app is of iOS or of Android. Rows of apps are rejected, unless you map app_platform.',
  },
}
