import type { Ecapi } from '@penstock/connector'

/** How offline conversions of Campaign Manager 360 receive events of ECAPI. */
export const campaignManagerEcapi: Ecapi = {
  columns: {
    timestampMicros: 'timestamp',
    ordinal: 'id',
    gclid: 'user_data.click_id',
    mobileDeviceId: 'user_data.ifa',
    impressionId: 'user_data.impression_id',
    value: 'value',
  },
  losses: {
    currency_code: 'Campaign Manager 360 reads values in the currency of the advertiser.',
    'user_data.email_address': 'Campaign Manager 360 only adds contact data to conversions of a tag.',
    'user_data.phone_numbers': 'Campaign Manager 360 only adds contact data to conversions of a tag.',
  },
}
