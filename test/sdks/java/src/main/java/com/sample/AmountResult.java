package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafResult;
import java.util.LinkedHashMap;
import java.util.Map;

@IceNode(name = "Issue")
public class AmountResult extends BaseLeafResult {
    @IceField(name = "prefix")
    public String prefix = "";

    @IceField(name = "amount")
    public long amount;

    @Override
    protected boolean doResult(IceRoam roam) {
        Object uid = roam.get("uid");
        if (uid == null) {
            return false;
        }
        Map<String, Object> gift = new LinkedHashMap<>();
        gift.put("uid", uid);
        gift.put("amount", amount);
        roam.put(prefix + "sent", gift);
        Object count = roam.get("count");
        // A local on purpose: the SDK's scanner loses the key when the value next to it is a conditional.
        long next = count instanceof Number ? ((Number) count).longValue() + 1 : 1;
        roam.put("count", next);
        return true;
    }
}
