import type { Ecapi } from '@penstock/connector'
import { usualEcapiColumns } from '../kit/ecapi.ts'

/** How Snapchat's Conversions API receives events of ECAPI. Places outside websites and apps are offline. */
export const snapchatEcapi: Ecapi = {
  columns: {
    event_name: {
      from: 'event_type',
      values: {
        purchase: 'PURCHASE',
        page_view: 'PAGE_VIEW',
        ad_impression: 'AD_VIEW',
        add_to_wishlist: 'ADD_TO_WISHLIST',
        add_to_cart: 'ADD_CART',
        viewed_item: 'VIEW_CONTENT',
        begin_checkout: 'START_CHECKOUT',
        add_payment_info: 'ADD_BILLING',
        sign_up: 'SIGN_UP',
        search: 'SEARCH',
        unlock_achievement: 'ACHIEVEMENT_UNLOCKED',
        install: 'APP_INSTALL',
        start_trial: 'START_TRIAL',
        subscribe: 'SUBSCRIBE',
        share: 'SHARE',
        view_item_list: 'LIST_VIEW',
        spend_virtual_currency: 'SPENT_CREDITS',
        login: 'LOGIN',
        level_up: 'LEVEL_COMPLETE',
        tutorial_complete: 'COMPLETE_TUTORIAL',
      },
    },
    event_time: 'timestamp',
    action_source: { from: 'source', values: { website: 'WEB', app: 'MOBILE_APP' }, others: 'OFFLINE' },
    ...usualEcapiColumns,
    sc_click_id: 'user_data.click_id',
    madid: 'user_data.ifa',
    conversion_value: 'value',
    currency: 'currency_code',
    order_id: 'properties.transaction_id',
    contents: 'properties.items',
    search_string: 'properties.search_term',
    sign_up_method: 'properties.login_method',
    event_source_url: 'properties.page_url',
  },
}
