import type { Ecapi } from '@penstock/connector'
import { usualEcapiColumns } from '../kit/ecapi.ts'

const offline = 'offline'

/** How Pinterest's API for Conversions receives events of ECAPI. */
export const pinterestEcapi: Ecapi = {
  columns: {
    event_name: {
      from: 'event_type',
      values: {
        purchase: 'checkout',
        page_view: 'page_visit',
        add_to_wishlist: 'add_to_wishlist',
        add_to_cart: 'add_to_cart',
        viewed_item: 'view_content',
        begin_checkout: 'initiate_checkout',
        add_payment_info: 'add_payment_info',
        generate_lead: 'lead',
        sign_up: 'signup',
        search: 'search',
        install: 'app_install',
        customize_product: 'customize_product',
        contact: 'contact',
        find_location: 'find_location',
        schedule: 'schedule',
        start_trial: 'start_trial',
        subscribe: 'subscribe',
        view_item_list: 'view_category',
      },
      others: 'custom',
    },
    event_time: 'timestamp',
    action_source: {
      from: 'source',
      values: {
        website: 'web',
        email: offline,
        phone_call: offline,
        chat: offline,
        physical_store: offline,
        system_generated: offline,
        business_messaging: offline,
        other: offline,
      },
    },
    ...usualEcapiColumns,
    click_id: 'user_data.click_id',
    maid: 'user_data.ifa',
    value: 'value',
    currency: 'currency_code',
    order_id: 'properties.transaction_id',
    contents: 'properties.items',
    search_string: 'properties.search_term',
    event_source_url: 'properties.page_url',
  },
  losses: {
    source:
      'Pinterest asks whether an app is of iOS or of Android. Rows of apps are rejected, unless you change the mapping.',
  },
}
