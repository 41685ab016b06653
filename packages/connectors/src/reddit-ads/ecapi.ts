import type { Ecapi } from '@penstock/connector'

/** How Reddit's Conversions API receives events of ECAPI. */
export const redditEcapi: Ecapi = {
  columns: {
    event_name: {
      from: 'event_type',
      values: {
        purchase: 'PURCHASE',
        page_view: 'PAGE_VISIT',
        add_to_wishlist: 'ADD_TO_WISHLIST',
        add_to_cart: 'ADD_TO_CART',
        viewed_item: 'VIEW_CONTENT',
        generate_lead: 'LEAD',
        sign_up: 'SIGN_UP',
        search: 'SEARCH',
      },
    },
    event_time: 'timestamp',
    action_source: {
      from: 'source',
      values: { website: 'website', app: 'app', physical_store: 'physical_store' },
      others: 'other',
    },
    event_id: 'id',
    click_id: 'user_data.click_id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    external_id: 'user_data.customer_identifier',
    ip_address: 'user_data.event_ip_address',
    user_agent: 'user_data.event_user_agent',
    event_source_url: 'properties.page_url',
    value: 'value',
    currency: 'currency_code',
    products: 'properties.items',
  },
  losses: {
    'user_data.ifa': 'Reddit asks whether it is of iOS or of Android. Map it to idfa or aaid.',
  },
}
