import type { Ecapi } from '@penstock/connector'

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
    event_id: 'id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    first_name: 'user_data.address.first_name',
    last_name: 'user_data.address.last_name',
    gender: 'user_data.gender',
    city: 'user_data.address.city',
    state: 'user_data.address.state',
    zip: 'user_data.address.postal_code',
    country: 'user_data.address.country_code',
    external_id: 'user_data.customer_identifier',
    client_ip_address: 'user_data.event_ip_address',
    client_user_agent: 'user_data.event_user_agent',
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
